import { assertEquals, assertNotStrictEquals } from "@std/assert";
import { cloneJson } from "../json/json.ts";
import { zeroCost, zeroUsage } from "../models/usage.ts";
import { copyAmounts, copyMessage, copyResult } from "./copy_message.ts";
import type { AgentMessage } from "./message.ts";
import type { AgentToolResult } from "./tool_result.ts";

/** Asserts that no object or array in `copy` is one of `original`. */
function assertDisjoint(copy: unknown, original: unknown): void {
  if (typeof original !== "object" || original === null) return;
  assertNotStrictEquals(copy, original);
  for (const [key, member] of Object.entries(original)) {
    assertDisjoint((copy as Record<string, unknown>)[key], member);
  }
}

/** A call with a member that only a newer version knows. */
const ofNewerVersion = Object.assign(
  { type: "tool_call", id: "c1", name: "add", arguments: {} } as const,
  { data: { list: [1] } },
);

const reply = {
  role: "assistant",
  content: [
    { type: "text", text: "Hi" },
    { type: "text", text: "Hi", citations: [{ type: "url", url: "https://example.com" }] },
    { type: "thinking", thinking: "Hm", signature: "s" },
    { type: "tool_call", id: "c1", name: "add", arguments: { list: [{ x: 1 }] } },
    { type: "tool_call", id: "c2", name: "add", arguments: {}, signature: "s" },
    { type: "extension", typeName: "a.b", data: { list: [1] } },
  ],
  provider: "p",
  modelId: "m",
  usage: zeroUsage(),
  cost: zeroCost(),
  stopReason: "tool_use",
  timestamp: 1,
  id: "m1",
} satisfies AgentMessage;

const result = {
  role: "tool_result",
  toolCallId: "c1",
  toolName: "add",
  content: [
    { type: "text", text: "3" },
    { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
  ],
  isError: false,
  timestamp: 1,
  id: "m2",
} satisfies AgentMessage;

const { id: _id, ...resultWithoutId } = result;

const messages: readonly AgentMessage[] = [
  reply,
  { ...reply, usage: { ...zeroUsage(), extra: { reasoning: 5 } } },
  { ...reply, cost: { ...zeroCost(), extra: { search: null } } },
  { ...reply, metadata: { tags: ["a"] } },
  { ...reply, content: [ofNewerVersion] },
  { ...reply, errorMessage: "failed", errorCode: "network_error" },
  result,
  { ...result, details: { rows: [1] } },
  { ...result, usage: zeroUsage(), cost: zeroCost() },
  { ...resultWithoutId, details: { rows: [1] } },
  { ...result, metadata: { tags: ["a"] } },
  { role: "user", content: [{ type: "text", text: "Hi" }], timestamp: 1, id: "m3" },
  { role: "custom", type: "note", data: { list: [1] }, timestamp: 1, id: "m4" },
];

for (const [index, message] of messages.entries()) {
  Deno.test(`copyMessage() returns the same as cloneJson(), for the ${message.role} message ${index}`, () => {
    const copy = copyMessage(message);
    assertEquals(copy, cloneJson(message));
    assertDisjoint(copy, message);
  });
}

Deno.test("copyResult() returns the same as cloneJson()", () => {
  const results: readonly AgentToolResult[] = [
    { content: result.content },
    { content: result.content, isError: true, details: { rows: [1] } },
  ];
  for (const original of results) {
    const copy = copyResult(original);
    assertEquals(copy, cloneJson(original));
    assertDisjoint(copy, original);
  }
});

Deno.test("copyAmounts() returns the same as cloneJson(), also with additional amounts", () => {
  for (const original of [zeroUsage(), { ...zeroUsage(), extra: { reasoning: 5 } }]) {
    const copy = copyAmounts(original);
    assertEquals(copy, cloneJson(original));
    assertDisjoint(copy, original);
  }
});
