import { assertEquals } from "@std/assert";
import type { CollectedReply } from "../../src/testing/read_reply.ts";
import { HANDMADE_APIS, readHandmade } from "./handmade_streams.ts";

function read(api: string, events: readonly object[]): Promise<CollectedReply> {
  const found = HANDMADE_APIS.find(({ name }) => name === api);
  if (!found) throw new Error(`No API ${api}`);
  return readHandmade(found, events);
}

/** Returns the facts about a reply that events may state once, repeatedly or not at all. */
async function readFacts(api: string, events: readonly object[]): Promise<unknown[]> {
  const { stopReason, usage, error, events: received } = await read(api, events);
  const end = received.at(-1);
  const responseId = end?.type === "done" ? end.responseId : undefined;
  const { input, output, cacheRead, cacheWrite, total, extra } = usage ?? {};
  assertEquals(error, undefined);
  return [stopReason, { input, output, cacheRead, cacheWrite, total, ...extra }, responseId];
}

Deno.test("createAnthropic(): facts of earlier events stay when later ones lack them or have null", async () => {
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: 20,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 25 },
  };
  const counts = {
    input_tokens: null,
    cache_read_input_tokens: null,
    cache_creation_input_tokens: null,
    cache_creation: null,
    output_tokens: 7,
    output_tokens_details: { thinking_tokens: 3 },
  };
  const facts = await readFacts("anthropic", [
    { type: "message_start", message: { id: "m", usage } },
    { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: counts },
    { type: "message_delta", delta: { stop_reason: null }, usage: null },
    { type: "message_delta", delta: {} },
    { type: "message_stop" },
  ]);
  const expected = { input: 10, output: 7, cacheRead: 20, cacheWrite: 30, total: 67 };
  assertEquals(facts, ["length", { ...expected, reasoning: 3, cacheWriteLong: 25 }, "m"]);
});

Deno.test("createOpenAI(): facts of earlier chunks stay when later ones lack them or have null", async () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  const facts = await readFacts("openai", [
    { id: "c", usage, choices: [{ delta: { content: "x" }, finish_reason: "length" }] },
    { id: "", usage: null, choices: [{ delta: {}, finish_reason: null }] },
    { choices: [{ delta: {} }] },
    { choices: [] },
  ]);
  const expected = { input: 3, output: 5, cacheRead: 4, cacheWrite: 3, total: 15 };
  assertEquals(facts, ["length", { ...expected, reasoning: 2 }, "c"]);
});

Deno.test("createGoogle(): facts of earlier chunks stay when later ones lack them", async () => {
  const usageMetadata = {
    promptTokenCount: 10,
    cachedContentTokenCount: 4,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 2,
    toolUsePromptTokenCount: 8,
    totalTokenCount: 25,
  };
  const facts = await readFacts("google", [
    {
      responseId: "g",
      usageMetadata,
      candidates: [{ content: { parts: [{ text: "x" }] }, finishReason: "MAX_TOKENS" }],
    },
    { usageMetadata: { candidatesTokenCount: 6 }, candidates: [{ finishReason: null }] },
    { usageMetadata: null, candidates: [] },
  ]);
  const expected = { input: 14, output: 8, cacheRead: 4, cacheWrite: 0, total: 25 };
  assertEquals(facts, ["length", { ...expected, reasoning: 2 }, "g"]);
});

Deno.test("createBedrock(): counts cache reads and writes, and those that last longer", async () => {
  const usage = {
    inputTokens: 10,
    outputTokens: 5,
    cacheReadInputTokens: 4,
    cacheWriteInputTokens: 30,
    totalTokens: 49,
    cacheDetails: [{ ttl: "1h", inputTokens: 25 }, { ttl: "5m", inputTokens: 5 }],
  };
  const facts = await readFacts("bedrock", [
    { metadata: { usage } },
    { messageStop: { stopReason: "max_tokens" } },
  ]);
  const expected = { input: 10, output: 5, cacheRead: 4, cacheWrite: 30, total: 49 };
  assertEquals(facts, ["length", { ...expected, cacheWriteLong: 25 }, undefined]);
});

Deno.test("responses: the total is that of the provider, and counts may be missing", async () => {
  const completed = (usage: unknown) => [
    { type: "response.completed", response: { id: "r", status: "completed", usage } },
  ];
  const details = { cached_tokens: 4, cache_write_tokens: 3 };
  const usage = {
    input_tokens: 10,
    input_tokens_details: details,
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 16,
  };
  assertEquals(await readFacts("openai responses", completed(usage)), [
    "stop",
    { input: 3, output: 5, cacheRead: 4, cacheWrite: 3, total: 16, reasoning: 0 },
    "r",
  ]);
  assertEquals(await readFacts("openai responses", completed(null)), [
    "stop",
    { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    "r",
  ]);
});

Deno.test("createXai(): reasoning that the completion tokens exclude is part of the output", async () => {
  const readUsage = (counts: object) =>
    readFacts("xai", [
      {
        choices: [{ delta: { content: "x" }, finish_reason: "stop" }],
        usage: { completion_tokens_details: { reasoning_tokens: 20 }, ...counts },
      },
    ]);
  const excluded = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 35 };
  const included = { prompt_tokens: 10, completion_tokens: 25, total_tokens: 35 };
  const expected = { input: 10, output: 25, cacheRead: 0, cacheWrite: 0, total: 35, reasoning: 20 };
  assertEquals(await readUsage(excluded), ["stop", expected, undefined]);
  assertEquals(await readUsage(included), ["stop", expected, undefined]);
});
