/**
 * Streams of all APIs, written by hand, for tests of all readers.
 *
 * @module
 */

import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createAzure } from "../../adapters/azure/mod.ts";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createMistral } from "../../adapters/mistral/mod.ts";
import { createOllama } from "../../adapters/ollama/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { createProxy } from "../../adapters/proxy/mod.ts";
import { createXai } from "../../adapters/xai/mod.ts";
import type { StreamFn, ToolSpec } from "../../src/core/streams/stream.ts";
import { type CollectedReply, readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { encodeEventStream } from "./bedrock_frames.ts";
import { createMinimalRequest } from "./wire_tests.ts";

/** The key of all requests. */
export const KEY = "Test-Key-4711";

/** The tool of all requests. */
export const READ_FILE: ToolSpec = {
  name: "read_file",
  description: "",
  parameters: { type: "object" },
};

/** Values of a hand-made reply; those of wrong types test the readers. */
export interface HandmadeReply {
  /** Text. Default: none. */
  readonly text?: unknown;
  /** Thinking. Default: none. */
  readonly thinking?: unknown;
  /** Name of the called tool. Default: no call. */
  readonly call?: unknown;
  /** Stop reason. Default: that of a complete reply. */
  readonly reason?: unknown;
}

/** An API of a provider. */
export interface HandmadeApi {
  readonly name: string;
  readonly createStreamFn: (fetch: typeof globalThis.fetch) => StreamFn;
  /** Encodes events as the body of a response. */
  readonly encode: (events: readonly object[]) => string | Uint8Array;
  /** Creates the events of a complete reply. */
  readonly createEvents: (reply: HandmadeReply) => readonly object[];
}

function toSse(events: readonly object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

function toLines(events: readonly object[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join("");
}

function createBlockEvents(index: number, content_block: object, ...deltas: object[]): object[] {
  return [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

function createAnthropicEvents({ text, thinking, call, reason }: HandmadeReply): object[] {
  const tool = { type: "tool_use", id: "1", name: call, input: {} };
  const stop_reason = reason ?? (call === undefined ? "end_turn" : "tool_use");
  return [
    { type: "message_start", message: { id: "m", usage: { input_tokens: 1 } } },
    ...createBlockEvents(0, { type: "thinking" }, { type: "thinking_delta", thinking }),
    ...createBlockEvents(1, { type: "text", text: "" }, { type: "text_delta", text }),
    ...call === undefined ? [] : createBlockEvents(2, tool),
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ];
}

function createChatEvents({ text, thinking, call, reason }: HandmadeReply): object[] {
  const tool_calls = [{ index: 0, id: "1", function: { name: call, arguments: "{}" } }];
  const delta = {
    content: text,
    reasoning_content: thinking,
    ...(call !== undefined && { tool_calls }),
  };
  const finish_reason = reason ?? (call === undefined ? "stop" : "tool_calls");
  return [
    { choices: [{ index: 0, delta }] },
    { choices: [{ index: 0, delta: {}, finish_reason }], usage: { prompt_tokens: 1 } },
  ];
}

function createResponsesEvents({ text, thinking, call, reason }: HandmadeReply): object[] {
  const item = { type: "function_call", call_id: "1", name: call, arguments: "{}" };
  const status = reason ?? "completed";
  return [
    { type: "response.reasoning_summary_text.delta", output_index: 0, delta: thinking },
    { type: "response.output_text.delta", output_index: 1, delta: text },
    ...call === undefined ? [] : [{ type: "response.output_item.done", output_index: 2, item }],
    { type: "response.completed", response: { id: "r", status, usage: { input_tokens: 1 } } },
  ];
}

function createGoogleEvents({ text, thinking, call, reason }: HandmadeReply): object[] {
  const parts = [
    ...thinking === undefined ? [] : [{ thought: true, text: thinking }],
    ...text === undefined ? [] : [{ text }],
    ...call === undefined ? [] : [{ functionCall: { name: call, args: {} } }],
  ];
  const usageMetadata = { promptTokenCount: 1 };
  return [{
    candidates: [{ content: { parts }, finishReason: reason ?? "STOP" }],
    usageMetadata,
  }];
}

function createOllamaEvents({ text, thinking, call, reason }: HandmadeReply): object[] {
  const tool_calls = call === undefined ? undefined : [{ function: { name: call } }];
  return [
    { message: { role: "assistant", content: text, thinking, tool_calls }, done: false },
    { message: { content: "" }, done: true, done_reason: reason ?? "stop", eval_count: 1 },
  ];
}

function createBedrockEvents({ text, thinking, call, reason }: HandmadeReply): object[] {
  const stopReason = reason ?? (call === undefined ? "end_turn" : "tool_use");
  const start = { toolUse: { toolUseId: "1", name: call } };
  const delta = (contentBlockIndex: number, value: object) => ({
    contentBlockDelta: { contentBlockIndex, delta: value },
  });
  return [
    ...thinking === undefined ? [] : [delta(0, { reasoningContent: { text: thinking } })],
    { contentBlockStop: { contentBlockIndex: 0 } },
    ...text === undefined ? [] : [delta(1, { text })],
    { contentBlockStop: { contentBlockIndex: 1 } },
    ...call === undefined ? [] : [
      { contentBlockStart: { contentBlockIndex: 2, start } },
      { contentBlockStop: { contentBlockIndex: 2 } },
    ],
    { messageStop: { stopReason } },
    { metadata: { usage: { inputTokens: 1, outputTokens: 1 } } },
  ];
}

/** All APIs that are not the project's own; several providers have that of chat completions. */
export const HANDMADE_APIS: readonly HandmadeApi[] = [
  {
    name: "anthropic",
    createStreamFn: (fetch) => createAnthropic({ fetch }),
    encode: toSse,
    createEvents: createAnthropicEvents,
  },
  {
    name: "openai",
    createStreamFn: (fetch) => createOpenAI({ fetch, api: "chat" }),
    encode: toSse,
    createEvents: createChatEvents,
  },
  {
    name: "openai responses",
    createStreamFn: (fetch) => createOpenAI({ fetch, api: "responses" }),
    encode: toSse,
    createEvents: createResponsesEvents,
  },
  {
    name: "google",
    createStreamFn: (fetch) => createGoogle({ fetch }),
    encode: toSse,
    createEvents: createGoogleEvents,
  },
  {
    name: "ollama",
    createStreamFn: (fetch) => createOllama({ fetch }),
    encode: toLines,
    createEvents: createOllamaEvents,
  },
  {
    name: "bedrock",
    createStreamFn: (fetch) => createBedrock({ fetch, region: "us-east-1" }),
    encode: encodeEventStream,
    createEvents: createBedrockEvents,
  },
  {
    name: "mistral",
    createStreamFn: (fetch) => createMistral({ fetch }),
    encode: toSse,
    createEvents: createChatEvents,
  },
  {
    name: "xai",
    createStreamFn: (fetch) => createXai({ fetch, api: "chat" }),
    encode: toSse,
    createEvents: createChatEvents,
  },
  {
    name: "azure",
    createStreamFn: (fetch) => createAzure({ fetch, baseUrl: "https://a.example" }),
    encode: (events) => `${toSse(events)}data: [DONE]\n\n`,
    createEvents: createChatEvents,
  },
];

/** Creates the stream function of a proxy. */
export function createTestProxy(fetch: typeof globalThis.fetch): StreamFn {
  return createProxy({ fetch, baseUrl: "https://proxy.example" });
}

/** Reads the reply of an API whose body is the given events, or the given text. */
export function readHandmade(
  { createStreamFn, encode }: Pick<HandmadeApi, "createStreamFn" | "encode">,
  events: readonly object[] | string,
): Promise<CollectedReply> {
  const body = typeof events === "string" ? events : encode(events);
  const request = createMinimalRequest("acme", "m");
  const context = { ...request.context, tools: [READ_FILE] };
  const options = { ...request.options, apiKey: KEY };
  return readReply(createStreamFn(replayFetch(body))({ ...request, context, options }));
}
