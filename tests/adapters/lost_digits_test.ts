import { assertEquals } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createOllama } from "../../adapters/ollama/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { type CollectedReply, readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { createMinimalRequest } from "./wire_tests.ts";

type CreateStreamFn = (options: { fetch: typeof globalThis.fetch }) => StreamFn;

const createChat: CreateStreamFn = (options) => createOpenAI({ ...options, api: "chat" });
const createResponses: CreateStreamFn = (options) => createOpenAI({ ...options, api: "responses" });

const READ_FILE = { name: "read_file", description: "", parameters: { type: "object" } } as const;

function read(create: CreateStreamFn, events: readonly object[]): Promise<CollectedReply> {
  const prefix = create === createOllama ? "" : "data: ";
  const body = events.map((event) => `${prefix}${JSON.stringify(event)}\n\n`).join("")
    .replace('"DIGITS"', "1234567890123456789");
  const request = createMinimalRequest("acme", "m");
  const context = { ...request.context, tools: [READ_FILE] };
  return readReply(create({ fetch: replayFetch(body) })({ ...request, context }));
}

const createAnthropicCall = (input: unknown) => [
  { type: "message_start", message: { id: "m" } },
  {
    type: "content_block_start",
    index: 0,
    content_block: { type: "tool_use", id: "1", name: "read_file", input },
  },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "tool_use" } },
  { type: "message_stop" },
];
const createResponsesCall = (args: unknown) => {
  const item = { type: "function_call", call_id: "1", name: "read_file", arguments: args };
  return [{ type: "response.completed", response: { status: "completed", output: [item] } }];
};
const createGoogleCall = (args: object) => [{
  candidates: [{
    content: { parts: [{ functionCall: { name: "read_file", ...args } }] },
    finishReason: "STOP",
  }],
}];
const createOllamaCall = (args: unknown) => [{
  message: { tool_calls: [{ function: { name: "read_file", arguments: args } }] },
  done: true,
  done_reason: "stop",
}];
const createChatCall = (args: unknown) => [{
  choices: [{
    index: 0,
    delta: {
      tool_calls: [{ index: 0, id: "1", function: { name: "read_file", arguments: args } }],
    },
    finish_reason: "tool_calls",
  }],
}];

Deno.test("all providers: a call whose arguments are a value with more digits than a number keeps is refused", async () => {
  const args = { path: "1234567890123456800", list: [1234567890123456800, { id: "DIGITS" }] };
  const part = { jsonPath: "$.id", numberValue: "DIGITS" };
  const replies = await Promise.all([
    read(createAnthropic, createAnthropicCall(args)),
    read(createResponses, createResponsesCall(args)),
    read(createGoogle, createGoogleCall({ args })),
    read(createGoogle, createGoogleCall({ partialArgs: [part] })),
    read(createOllama, createOllamaCall(args)),
    read(createChat, createChatCall(args)),
  ]);
  assertEquals(replies.map(({ calls: [only] }) => only?.state), Array(6).fill("invalid"));
});

Deno.test("google, ollama: a number that the provider may have rounded is reported", async () => {
  const readWarnings = async (value: unknown) => {
    const replies = await Promise.all([
      read(createGoogle, createGoogleCall({ args: { path: value } })),
      read(createOllama, createOllamaCall({ path: value })),
    ]);
    return replies.map(({ warnings }) =>
      warnings.flatMap(({ code, message }) => code === "rounded_number" ? message : [])
    );
  };
  const message = "The provider may have rounded the number 1234567890123456800 in the arguments " +
    "of read_file: give such parameters the type string";
  assertEquals(await readWarnings(1234567890123456800), Array(2).fill([message]));
  const others = [1e18, 0.1234567890123456, 9007199254740991, "1234567890123456800", 1.5e300];
  assertEquals(await readWarnings(others), [[], []]);
});
