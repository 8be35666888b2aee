import { assertEquals } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createAzure } from "../../adapters/azure/mod.ts";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import { connect } from "../../adapters/connect.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createMistral } from "../../adapters/mistral/mod.ts";
import { createOllama } from "../../adapters/ollama/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { createProxy } from "../../adapters/proxy/mod.ts";
import { createXai } from "../../adapters/xai/mod.ts";
import type { StreamFn } from "../../src/core/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { createMinimalRequest } from "./wire_tests.ts";

/** All functions that create a stream function, as a caller without types sees them. */
const FACTORIES: Readonly<Record<string, (options: never) => StreamFn>> = {
  connect,
  createAnthropic,
  createAzure,
  createBedrock,
  createGoogle,
  createMistral,
  createOllama,
  createOpenAI,
  createProxy,
  createXai,
};

Deno.test("adapters: options that are no object end the reply with an error that names them", async () => {
  for (const [name, create] of Object.entries(FACTORIES)) {
    for (const [options, description] of [["sk-1", "a string"], [null, "null"], [[], "a list"]]) {
      const streamFn = create(options as never);
      assertEquals(
        streamFn.contextWindow?.({ provider: "x", modelId: "m", thinkingLevel: "off" }),
        undefined,
      );
      const { error } = await readReply(streamFn(createMinimalRequest("openai", "m")));
      assertEquals(
        `${error?.code}: ${error?.message}`,
        `bad_request: The options must be an object, not ${description}`,
        name,
      );
    }
  }
});
