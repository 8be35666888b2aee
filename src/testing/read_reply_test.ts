import { assertEquals, assertRejects } from "@std/assert";
import { StreamError } from "../core/errors/errors.ts";
import { zeroUsage } from "../core/models/usage.ts";
import type { AssistantMessageEvent } from "../core/streams/stream.ts";
import { readReply } from "./read_reply.ts";

const START: AssistantMessageEvent = { type: "start" };
const DONE: AssistantMessageEvent = { type: "done", stopReason: "stop", usage: zeroUsage() };

/** Reads the reply of events, which may break the types. */
function read(...events: readonly unknown[]) {
  return readReply(ReadableStream.from(events as readonly AssistantMessageEvent[]));
}

Deno.test("readReply() collects content, calls, warnings and the end of a reply", async () => {
  const reply = await read(
    START,
    { type: "thinking_start", contentIndex: 0 },
    { type: "thinking_delta", contentIndex: 0, delta: "Hm." },
    { type: "thinking_end", contentIndex: 0, signature: "s" },
    { type: "text_start", contentIndex: 1 },
    { type: "text_delta", contentIndex: 1, delta: "Hi" },
    { type: "text_end", contentIndex: 1 },
    { type: "warning", code: "w", message: "careful" },
    { type: "tool_call_start", contentIndex: 2, id: "c", name: "look" },
    { type: "tool_call_delta", contentIndex: 2, delta: '{"a":1' },
    { ...DONE, stopReason: "length", usage: { ...zeroUsage(), total: 3 } },
  );
  assertEquals([reply.events.length, reply.content.length], [11, 3]);
  assertEquals([reply.text, reply.thinking, reply.stopReason], ["Hi", "Hm.", "length"]);
  assertEquals(reply.calls, [{ id: "c", name: "look", arguments: {}, state: "truncated" }]);
  assertEquals([reply.usage?.total, reply.warnings.length], [3, 1]);
  const error = new StreamError("broken");
  const failed = await read(START, { type: "error", stopReason: "error", error });
  assertEquals([failed.stopReason, failed.error, "usage" in failed], ["error", error, false]);
  assertEquals("error" in reply, false);
});

Deno.test("readReply() requires one start at the beginning and one terminal event at the end", async () => {
  await assertRejects(() => read(), Error, 'Expected "start" as first event, got no event');
  await assertRejects(() => read(DONE), Error, 'Expected "start" as first event, got "done"');
  await assertRejects(() => read(START, START, DONE), Error, 'one "start" event, got 2');
  await assertRejects(() => read(START), Error, '"done" or "error" as last event, got "start"');
  await assertRejects(() => read(START, DONE, DONE), StreamError, "after the end");
});

Deno.test("readReply() requires strings and token counts of at least 0", async () => {
  const text = { type: "text_start", contentIndex: 0 };
  const end = { type: "text_end", contentIndex: 0 };
  const cases: readonly (readonly [events: readonly unknown[], problem: string])[] = [
    [[text, { ...end, signature: 5 }], "signature"],
    [[text, { type: "text_delta", contentIndex: 0, delta: 5 }], "no string"],
    [[{ type: "tool_call_start", contentIndex: 0, id: "", name: null }], "no string"],
    [[{ ...DONE, usage: { ...zeroUsage(), input: -1 } }], "at least 0, got -1"],
    [[{ ...DONE, usage: { ...zeroUsage(), total: NaN } }], "at least 0, got NaN"],
    [[{ ...DONE, usage: { ...zeroUsage(), output: "5" } }], "at least 0, got 5"],
  ];
  for (const [events, problem] of cases) {
    await assertRejects(() => read(START, ...events), Error, problem);
  }
  const { usage } = await read(START, { ...DONE, usage: { ...zeroUsage(), extra: { any: -1 } } });
  assertEquals(usage?.extra, { any: -1 });
});
