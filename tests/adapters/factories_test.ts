import { assertEquals, assertStringIncludes } from "@std/assert";
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
import type { StreamFn } from "../../src/core/streams/stream.ts";
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

Deno.test("adapters: an unknown option ends the reply with an error that suggests the right one, before a request", async () => {
  const fetch = () => Promise.reject(new Error("A request was sent"));
  for (const [name, create] of Object.entries(FACTORIES)) {
    if (name === "connect") continue;
    const options = { baseURL: "http://localhost:1", apiKey: "sk-1", baseUrl: "http://x", fetch };
    const { error } = await readReply(
      create(options as never)(createMinimalRequest("openai", "m")),
    );
    assertEquals(error?.code, "bad_request", name);
    assertStringIncludes(
      error?.message ?? "",
      "adapter: did you mean baseUrl?",
      name,
    );
  }
});

/** Options of `connect()` that it does not have, and the message. */
const MISSPELT: readonly (readonly [object, string])[] = [
  [
    { providers: { openai: { baseURL: "http://localhost:1" } } },
    'Unknown option "baseURL" of the OpenAI adapter: did you mean baseUrl?',
  ],
  [{ providers: { openai: { endpoint: "http://localhost:1" } } }, '"endpoint"'],
  [{ provider: {} }, 'Unknown option "provider" of connect(): did you mean providers?'],
  [{ apiKey: "sk-1" }, 'Unknown option "apiKey" of connect()'],
];

Deno.test("connect(): an option that it or the adapter does not have ends the reply, so that no other server gets the key", async () => {
  const fetch = () => Promise.reject(new Error("A request was sent"));
  for (const [options, message] of MISSPELT) {
    const streamFn = connect({ ...options, fetch });
    const { error } = await readReply(streamFn(createMinimalRequest("openai", "m")));
    assertEquals(error?.code, "bad_request", message);
    assertStringIncludes(error?.message ?? "", message);
  }
});
