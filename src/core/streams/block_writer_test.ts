import { assert, assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import { seededRandom } from "../../testing/seeded_random.ts";
import { AbortedError, NetworkError, StreamError } from "../errors/errors.ts";
import { zeroCost, zeroUsage } from "../models/usage.ts";
import { ReplyAccumulator } from "./accumulate.ts";
import { BlockWriter } from "./block_writer.ts";
import type { AssistantMessageEvent } from "./stream.ts";

const usage = zeroUsage();

function collectEvents(write: (writer: BlockWriter) => void): AssistantMessageEvent[] {
  const events: AssistantMessageEvent[] = [];
  write(new BlockWriter((event) => events.push(event)));
  return events;
}

Deno.test("BlockWriter: starts, appends to and closes a text block", () => {
  const events = collectEvents((writer) => {
    writer.writeText("Hel");
    writer.writeText("");
    writer.writeText("lo");
    writer.finish({ stopReason: "stop", usage });
  });
  assertEquals(events, [
    { type: "start" },
    { type: "text_start", contentIndex: 0 },
    { type: "text_delta", contentIndex: 0, delta: "Hel" },
    { type: "text_delta", contentIndex: 0, delta: "lo" },
    { type: "text_end", contentIndex: 0 },
    { type: "done", stopReason: "stop", usage },
  ]);
});

Deno.test("BlockWriter: joins the halves of a character that deltas have split", () => {
  const deltas = (write: (writer: BlockWriter) => void) =>
    collectEvents(write).flatMap((event) => "delta" in event ? [event.delta] : []);
  const finish = { stopReason: "stop", usage } as const;
  const joined = deltas((writer) => {
    for (const unit of "a👋🏽b".split("")) writer.writeText(unit);
    for (const unit of "🙈".split("")) writer.writeThinking(unit);
    writer.finish(finish);
  });
  assertEquals(joined, ["a", "👋", "🏽", "b", "🙈"]);
  // A half that stays alone is part of the block in which it is.
  const events = collectEvents((writer) => {
    writer.writeText("\ud83d");
    writer.writeThinking("\udc4b");
    writer.writeText("a\ud83d");
    writer.fail(new NetworkError("lost"));
  });
  assertEquals(
    events.flatMap((event) => "delta" in event ? [[event.contentIndex, event.delta]] : []),
    [[0, "\ud83d"], [1, "\udc4b"], [2, "a"], [2, "\ud83d"]],
  );
});

Deno.test("BlockWriter: refuses a delta that is no string, which would become a word of the reply", () => {
  const writer = new BlockWriter(() => {});
  for (const delta of [undefined, null, 5, {}] as unknown as string[]) {
    for (const write of [() => writer.writeText(delta), () => writer.writeThinking(delta)]) {
      assertThrows(write, StreamError, "to write must be a string, not ");
    }
  }
  writer.finish({ stopReason: "stop", usage });
  writer.writeText(undefined as unknown as string); // ignored after the end
});

Deno.test("BlockWriter: closes a text or thinking block when another block starts", () => {
  const events = collectEvents((writer) => {
    writer.writeThinking("Hm");
    writer.writeText("Well");
    writer.writeToolCall("a", "bash", "{}");
    writer.writeText("so");
    writer.writeExtension("x", 1);
    writer.finish({ stopReason: "tool_use", usage });
  });
  assertEquals(events.slice(1, -1), [
    { type: "thinking_start", contentIndex: 0 },
    { type: "thinking_delta", contentIndex: 0, delta: "Hm" },
    { type: "thinking_end", contentIndex: 0 },
    { type: "text_start", contentIndex: 1 },
    { type: "text_delta", contentIndex: 1, delta: "Well" },
    { type: "text_end", contentIndex: 1 },
    { type: "tool_call_start", contentIndex: 2, id: "a", name: "bash" },
    { type: "tool_call_delta", contentIndex: 2, delta: "{}" },
    { type: "tool_call_end", contentIndex: 2 },
    { type: "text_start", contentIndex: 3 },
    { type: "text_delta", contentIndex: 3, delta: "so" },
    { type: "text_end", contentIndex: 3 },
    { type: "extension", contentIndex: 4, typeName: "x", data: 1 },
  ]);
});

Deno.test("BlockWriter: closes a block with its signature, or writes an empty block when none is open", () => {
  const events = collectEvents((writer) => {
    writer.writeThinking("Hm");
    writer.closeThinking({ signature: "s1" });
    writer.closeThinking({ signature: "s2", redacted: true });
    writer.writeText("Hi");
    writer.closeText({ signature: "s3" });
    writer.closeTextOrThinking({ signature: "nothing is open" });
    writer.finish({ stopReason: "stop", usage });
  });
  assertEquals(events.filter(({ type }) => type.endsWith("_end")), [
    { type: "thinking_end", contentIndex: 0, signature: "s1" },
    { type: "thinking_end", contentIndex: 1, signature: "s2", redacted: true },
    { type: "text_end", contentIndex: 2, signature: "s3" },
  ]);
});

Deno.test("BlockWriter: interleaves the arguments of open tool calls", () => {
  const reply = new ReplyAccumulator();
  const writer = new BlockWriter((event) => reply.apply(event));
  const first = writer.openToolCall("a", "bash");
  const second = writer.openToolCall("b", "bash");
  writer.writeToolArguments(second, '{"n":');
  writer.writeToolArguments(first, '{"n":1}');
  writer.writeToolArguments(second, "2}");
  writer.closeToolCall(first, { signature: "s" });
  writer.writeToolArguments(first, "ignored");
  writer.closeToolCall(first);
  writer.finish({ stopReason: "tool_use", usage });
  assertEquals(reply.finish().calls.map(({ block, state }) => [block.arguments, state.type]), [
    [{ n: 1 }, "complete"],
    [{ n: 2 }, "complete"],
  ]);
});

Deno.test("BlockWriter: leaves tool calls open only at a length stop", () => {
  const getLastTypes = (end: (writer: BlockWriter) => void): string[] =>
    collectEvents((writer) => {
      writer.writeToolCall("a", "bash", "{}");
      writer.writeToolArguments(writer.openToolCall("b", "bash"), '{"n":');
      end(writer);
    }).slice(-2).map(({ type }) => type);
  assertEquals(getLastTypes((writer) => writer.finish({ stopReason: "length", usage })), [
    "tool_call_delta",
    "done",
  ]);
  assertEquals(getLastTypes((writer) => writer.finish({ stopReason: "tool_use", usage })), [
    "tool_call_end",
    "done",
  ]);
  assertEquals(getLastTypes((writer) => writer.fail(new NetworkError("reset"))), [
    "tool_call_end",
    "error",
  ]);
});

Deno.test("BlockWriter: emits the reported cost, and the usage of a failed reply", () => {
  const cost = { ...zeroCost(), total: 0.5 };
  const error = new NetworkError("reset");
  assertEquals(
    collectEvents((writer) => writer.finish({ stopReason: "stop", usage, cost })).at(-1),
    {
      type: "done",
      stopReason: "stop",
      usage,
      cost,
    },
  );
  assertEquals(collectEvents((writer) => writer.fail(error, usage)), [
    { type: "start" },
    { type: "error", stopReason: "error", error, usage },
  ]);
});

Deno.test("BlockWriter: emits the last id of the reply that is a text", () => {
  const [done] = collectEvents((writer) => {
    for (const id of ["gen-1", "gen-2", "", null, 3]) writer.setResponseId(id);
    writer.finish({ stopReason: "stop", usage });
  }).slice(-1);
  assertEquals(done, { type: "done", stopReason: "stop", usage, responseId: "gen-2" });
});

Deno.test("BlockWriter: abort() ends the reply as aborted with the reason as cause", () => {
  const last = collectEvents((writer) => writer.abort("enough")).at(-1);
  assert(last?.type === "error");
  assertEquals(last.stopReason, "aborted");
  assertInstanceOf(last.error, AbortedError);
  assertEquals(last.error.cause, "enough");
});

Deno.test("BlockWriter: warning() keeps the open block open", () => {
  const events = collectEvents((writer) => {
    writer.writeText("a");
    writer.warning("option_ignored", "temperature was left out", { option: "temperature" });
    writer.writeText("b");
    writer.warning("other", "nothing more");
  });
  assertEquals(events.slice(2), [
    { type: "text_delta", contentIndex: 0, delta: "a" },
    {
      type: "warning",
      code: "option_ignored",
      message: "temperature was left out",
      data: { option: "temperature" },
    },
    { type: "text_delta", contentIndex: 0, delta: "b" },
    { type: "warning", code: "other", message: "nothing more" },
  ]);
});

Deno.test("BlockWriter: hasContent is true from the first block, ended from the terminal event", () => {
  const writer = new BlockWriter(() => {});
  assertEquals([writer.hasContent, writer.ended], [false, false]);
  writer.start();
  writer.writeText("");
  assertEquals([writer.hasContent, writer.ended], [false, false]);
  writer.openToolCall("a", "bash");
  assertEquals([writer.hasContent, writer.ended], [true, false]);
  writer.finish({ stopReason: "stop", usage });
  assertEquals([writer.hasContent, writer.ended], [true, true]);
});

Deno.test("BlockWriter: ignores every call after the terminal event", () => {
  const events = collectEvents((writer) => {
    writer.finish({ stopReason: "stop", usage });
    assertEquals(writer.openToolCall("a", "bash"), 0);
    writer.writeToolArguments(0, "{}");
    writer.closeToolCall(0);
    writer.start();
    writer.writeText("late");
    writer.writeThinking("late");
    writer.closeText({});
    writer.closeThinking({});
    writer.writeExtension("x", 1);
    writer.warning("late", "Late");
    writer.finish({ stopReason: "stop", usage });
    writer.abort();
    assertEquals([writer.hasContent, writer.ended], [false, true]);
  });
  assertEquals(events.map(({ type }) => type), ["start", "done"]);
});

/** Calls a random method, valid at this point or not. */
function writeRandomly(writer: BlockWriter, random: () => number): void {
  const index = Math.floor(random() * 4);
  const writes = [
    () => writer.start(),
    () => writer.writeText(random() < 0.2 ? "" : "t"),
    () => writer.writeThinking("h"),
    () => writer.closeTextOrThinking(),
    () => writer.closeText({ signature: "s" }),
    () => writer.closeThinking({ signature: "s", redacted: true }),
    () => writer.openToolCall("", "bash"),
    () => writer.writeToolArguments(index, "{}"),
    () => writer.closeToolCall(index),
    () => writer.writeToolCall("id", "bash", "{}"),
    () => writer.writeExtension("x", null),
    () => writer.warning("w", "w"),
    () => random() < 0.2 && writer.finish({ stopReason: "length", usage }),
    () => random() < 0.2 && writer.fail(new NetworkError("x")),
    () => random() < 0.1 && writer.abort(),
  ];
  writes[Math.floor(random() * writes.length)]?.();
}

Deno.test("BlockWriter: writes a valid sequence with one terminal event for random calls", () => {
  for (let seed = 1; seed <= 2000; seed++) {
    const random = seededRandom(seed);
    const reply = new ReplyAccumulator();
    const events: AssistantMessageEvent[] = [];
    const writer = new BlockWriter((event) => {
      events.push(event);
      reply.apply(event);
    });
    for (let count = Math.floor(random() * 30); count > 0; count--) writeRandomly(writer, random);
    writer.finish({ stopReason: "stop", usage });
    writeRandomly(writer, random);
    const terminals = events.filter(({ type }) => type === "done" || type === "error");
    assertEquals(events[0]?.type, "start", `seed ${seed}`);
    assertEquals(terminals, events.slice(-1), `seed ${seed}`);
  }
});
