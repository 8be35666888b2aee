/**
 * Usage and cost of sessions whose prompts are read from and written to the cache of the provider.
 *
 * @module
 */

import { assertAlmostEquals, assertEquals } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import { prices } from "../../adapters/mod.ts";
import { Agent, type AgentResult, type StreamFn } from "../../mod.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { replayFetch, type ReplayFixture } from "../../src/testing/replay_fetch.ts";
import { encodeEventStream, EVENT_STREAM_TYPE } from "./bedrock_frames.ts";
import { HANDMADE_APIS, readHandmade } from "./handmade_streams.ts";

async function runSession(
  model: string,
  createStreamFn: (fetch: typeof globalThis.fetch) => StreamFn,
  responses: readonly ReplayFixture[],
): Promise<AgentResult> {
  const agent = new Agent({
    model,
    streamFn: createStreamFn(replayFetch([...responses])),
    prices,
    tools: [fakeTool({ name: "look" })],
    streamOptions: { cache: "long" },
  });
  const result = await agent.prompt("Look around");
  assertEquals(result.error, undefined);
  return result;
}

function toSse(events: readonly Record<string, unknown>[]): ReplayFixture {
  const body = events.map((event) => `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`);
  return { headers: { "content-type": "text/event-stream" }, body: body.join("") };
}

function toEventStream(events: readonly object[]): ReplayFixture {
  return { headers: { "content-type": EVENT_STREAM_TYPE }, body: encodeEventStream(events) };
}

Deno.test("usage: a session with anthropic shows the cached share and its long writes, and prices them", async () => {
  const { usage, cost } = await runSession(
    "anthropic/claude-haiku-5-5",
    (fetch) => createAnthropic({ apiKey: "k", fetch }),
    [
      toSse([
        {
          type: "message_start",
          message: {
            usage: {
              input_tokens: 10,
              cache_read_input_tokens: 0,
              cache_creation_input_tokens: 90_000,
              cache_creation: {
                ephemeral_5m_input_tokens: 20_000,
                ephemeral_1h_input_tokens: 70_000,
              },
              output_tokens: 1,
            },
          },
        },
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "tool_use", id: "toolu_1", name: "look", input: {} },
        },
        { type: "content_block_stop", index: 0 },
        {
          type: "message_delta",
          delta: { stop_reason: "tool_use" },
          usage: { output_tokens: 1000, output_tokens_details: { thinking_tokens: 400 } },
        },
        { type: "message_stop" },
      ]),
      toSse([
        {
          type: "message_start",
          message: {
            usage: {
              input_tokens: 10,
              cache_read_input_tokens: 90_000,
              cache_creation_input_tokens: 10_000,
              cache_creation: { ephemeral_1h_input_tokens: 10_000 },
            },
          },
        },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "Done." } },
        { type: "content_block_stop", index: 0 },
        {
          type: "message_delta",
          delta: { stop_reason: "end_turn" },
          usage: { output_tokens: 1000 },
        },
        { type: "message_stop" },
      ]),
    ],
  );
  assertEquals(usage, {
    input: 20,
    output: 2000,
    cacheRead: 90_000,
    cacheWrite: 100_000,
    total: 192_020,
    extra: { reasoning: 400, cacheWriteLong: 80_000 },
  });
  // The second prompt, of 100,010 tokens, is above the threshold of 100,000.
  assertAlmostEquals(cost.input ?? NaN, (10 * 0.1 + 10 * 0.5) / 1e6);
  assertAlmostEquals(cost.output ?? NaN, (1000 * 0.5 + 1000 * 2.5) / 1e6);
  assertAlmostEquals(cost.cacheRead ?? NaN, 90_000 * 0.05 / 1e6);
  assertAlmostEquals(cost.cacheWrite ?? NaN, (20_000 * 0.125 + 70_000 * 0.2 + 10_000 * 1) / 1e6);
});

Deno.test("usage: a session with bedrock shows the cached share and its long writes, and prices them by region", async () => {
  const { usage, cost } = await runSession(
    "bedrock/eu.anthropic.claude-opus-5",
    (fetch) => createBedrock({ bearerToken: "k", region: "eu-west-1", fetch }),
    [
      toEventStream([
        { messageStart: { role: "assistant" } },
        {
          contentBlockStart: {
            contentBlockIndex: 0,
            start: { toolUse: { toolUseId: "t1", name: "look" } },
          },
        },
        { contentBlockStop: { contentBlockIndex: 0 } },
        { messageStop: { stopReason: "tool_use" } },
        {
          metadata: {
            usage: {
              inputTokens: 10,
              outputTokens: 100,
              totalTokens: 5110,
              cacheWriteInputTokens: 5000,
              cacheDetails: [{ inputTokens: 1000, ttl: "5m" }, { inputTokens: 4000, ttl: "1h" }],
            },
          },
        },
      ]),
      toEventStream([
        { messageStart: { role: "assistant" } },
        { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Done." } } },
        { contentBlockStop: { contentBlockIndex: 0 } },
        { messageStop: { stopReason: "end_turn" } },
        {
          metadata: {
            usage: {
              inputTokens: 20,
              outputTokens: 100,
              totalTokens: 5120,
              cacheReadInputTokens: 5000,
            },
          },
        },
      ]),
    ],
  );
  assertEquals(usage, {
    input: 30,
    output: 200,
    cacheRead: 5000,
    cacheWrite: 5000,
    total: 10_230,
    extra: { cacheWriteLong: 4000 },
  });
  assertAlmostEquals(cost.cacheRead ?? NaN, 5000 * 0.5 * 1.1 / 1e6);
  assertAlmostEquals(cost.cacheWrite ?? NaN, (1000 * 6.25 + 4000 * 10) * 1.1 / 1e6);
});

Deno.test("usage: cache writes for an hour are long writes, and those for any other time but 5 minutes are counted apart", async () => {
  const counts = { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 2 };
  const cache_creation = { ...counts, ephemeral_12h_input_tokens: 4 };
  const message = { id: "m", usage: { cache_creation_input_tokens: 7, cache_creation } };
  const cacheDetails = [
    { inputTokens: 1, ttl: "5m" },
    { inputTokens: 2, ttl: "1h" },
    { inputTokens: 4, ttl: "12h" },
  ];
  const streams: Readonly<Record<string, readonly object[]>> = {
    anthropic: [{ type: "message_start", message }, { type: "message_stop" }],
    bedrock: [
      { messageStop: { stopReason: "end_turn" } },
      { metadata: { usage: { cacheWriteInputTokens: 7, cacheDetails } } },
    ],
  };
  for (const api of HANDMADE_APIS.filter(({ name }) => name in streams)) {
    const { usage } = await readHandmade(api, streams[api.name] ?? []);
    assertEquals(
      [usage?.cacheWrite, usage?.extra],
      [7, { cacheWriteLong: 2, cacheWriteOther: 4 }],
      api.name,
    );
  }
});
