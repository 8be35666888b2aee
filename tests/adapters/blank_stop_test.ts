import { assertEquals } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createMistral } from "../../adapters/mistral/mod.ts";
import { createOllama } from "../../adapters/ollama/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { createMinimalRequest } from "./wire_tests.ts";

type CreateStreamFn = (options: { fetch: typeof globalThis.fetch }) => StreamFn;

const createNova: CreateStreamFn = (options) =>
  createBedrock({ ...options, region: "us-east-1", bearerToken: "k" });

/** Sends a request that ends replies at the end of a line; returns the stop texts in its body and the warnings about them. */
async function sendStop(create: CreateStreamFn, modelId: string): Promise<unknown[]> {
  let stop: unknown;
  const fetch = (_url: string | URL | Request, init?: RequestInit) => {
    JSON.parse(String(init?.body), (name, value) => {
      if (/^stop/i.test(name) && Array.isArray(value)) stop = value;
      return value;
    });
    return Promise.resolve(new Response("", { status: 500 }));
  };
  const minimal = createMinimalRequest("acme", modelId);
  const request = { ...minimal, options: { ...minimal.options, stop: ["END", "\n"] } };
  const { warnings } = await readReply(create({ fetch })(request));
  return [stop, warnings.flatMap(({ code }) => code === "stop_left_out" ? [code] : [])];
}

Deno.test("stop texts of white space are sent, except to Claude models, which reject them", async () => {
  const others: readonly (readonly [CreateStreamFn, string])[] = [
    [(options) => createOpenAI({ ...options, api: "chat" }), "m"],
    [createGoogle, "m"],
    [createMistral, "m"],
    [createOllama, "m"],
    [createNova, "amazon.nova-pro-v1:0"],
  ];
  for (const [create, modelId] of others) {
    assertEquals(await sendStop(create, modelId), [["END", "\n"], []]);
  }
  for (const create of [createAnthropic, createNova]) {
    const sent = await sendStop(create, "anthropic.claude-sonnet-4-6");
    assertEquals(sent, [["END"], ["stop_left_out"]]);
  }
});
