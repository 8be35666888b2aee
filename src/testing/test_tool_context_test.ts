import { assertEquals, assertStrictEquals } from "@std/assert";
import type { AgentEvent } from "../core/events/event.ts";
import { userMessage } from "../core/messages/message.ts";
import type { ToolUpdate } from "../core/messages/tool_result.ts";
import { defineTool } from "../core/tools/tool.ts";
import { testToolContext } from "./test_tool_context.ts";

Deno.test("testToolContext() has a default for every property", async () => {
  const { signal, run: { runId, depth }, onUpdate, onEvent, ...values } = testToolContext();
  assertEquals(values, {
    toolCallId: "call_1",
    idempotencyKey: "run_1:call_1",
    runId: "run_1",
    turn: 1,
    context: undefined,
    messages: [],
  });
  assertEquals([runId, depth], ["run_1", 0]);
  assertEquals(signal.aborted, false);
  assertEquals(onUpdate("half"), undefined);
  assertEquals(await onEvent({ type: "turn_start", turn: 1 }), undefined);
});

Deno.test("testToolContext() derives the idempotency key from the ids of the run and the call", () => {
  const ids = { runId: "run_7", toolCallId: "call_3" };
  assertEquals(testToolContext(ids).idempotencyKey, "run_7:call_3");
  assertEquals(testToolContext({ ...ids, idempotencyKey: "own" }).idempotencyKey, "own");
});

Deno.test("testToolContext() keeps given properties", async () => {
  const updates: ToolUpdate[] = [];
  const events: AgentEvent[] = [];
  const { signal } = new AbortController();
  const messages = [userMessage("Hi", 0)];
  const database = { rows: 3 };
  const context = testToolContext<{ rows: number }>({
    signal,
    messages,
    context: database,
    turn: 4,
    onUpdate: (update) => void updates.push(update),
    onEvent: (event) => Promise.resolve(void events.push(event)),
  });
  context.onUpdate("half");
  await context.onEvent({ type: "turn_start", turn: 1 });
  assertStrictEquals(context.signal, signal);
  assertStrictEquals(context.context, database);
  assertEquals([context.context.rows, context.messages, context.turn], [3, messages, 4]);
  assertEquals([updates, events], [["half"], [{ type: "turn_start", turn: 1 }]]);
});

Deno.test("testToolContext() fills in properties that are undefined", () => {
  const { signal, runId } = testToolContext({ signal: undefined, runId: undefined } as never);
  assertEquals([signal.aborted, runId], [false, "run_1"]);
});

Deno.test("testToolContext() calls a tool of defineTool()", async () => {
  const double = defineTool({
    name: "double",
    description: "Doubles a number.",
    parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    execute: ({ n }, { onUpdate }) => {
      onUpdate("halfway");
      return `${2 * n}`;
    },
  });
  const updates: ToolUpdate[] = [];
  const onUpdate = (update: ToolUpdate): void => void updates.push(update);
  assertEquals(await double.execute({ n: 2 }, testToolContext({ onUpdate })), "4");
  assertEquals(updates, ["halfway"]);
});
