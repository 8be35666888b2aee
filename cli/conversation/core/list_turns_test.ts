import { assertEquals } from "@std/assert";
import type { AgentMessage } from "../../../mod.ts";
import { zeroCost, zeroUsage } from "../../../src/core/models/usage.ts";
import { createPlanMetadata } from "../../sessions/user_notes.ts";
import { listTurns } from "./list_turns.ts";
import type { OtherSpending } from "./other_spending.ts";

function user(text: string, timestamp: number): AgentMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp };
}

function reply(timestamp: number, calls: readonly string[] = []): AgentMessage {
  return {
    role: "assistant",
    content: calls.map((id) => ({ type: "tool_call", id, name: "look", arguments: {} })),
    provider: "p",
    modelId: "m",
    usage: zeroUsage(),
    cost: zeroCost(),
    stopReason: "stop",
    timestamp,
  };
}

const SPENDING = {
  usage: { ...zeroUsage(), input: 7, total: 7 },
  cost: { ...zeroCost(), input: 0.5, total: 0.5 },
};

/** The result of a tool that has used tokens, such as a sub-agent. */
function result(): AgentMessage {
  const call = { toolCallId: "c", toolName: "task" };
  return { role: "tool_result", ...call, content: [], isError: false, ...SPENDING, timestamp: 0 };
}

function listCosts(
  messages: readonly AgentMessage[],
  others: readonly OtherSpending[] = [],
): (readonly [string, number, number | null])[] {
  return listTurns(messages, others).map((
    { label, usage, cost },
  ) => [label, usage.total, cost.total]);
}

function listDurations(messages: readonly AgentMessage[]): (readonly [string, number])[] {
  return listTurns(messages).map(({ label, durationMs }) => [label, durationMs]);
}

Deno.test("listTurns: a prompt takes until its last reply, with the calls between its replies", () => {
  const messages = [
    user("One", 1_000),
    reply(1_500),
    reply(9_000),
    user("Two", 20_000),
    reply(21_000),
  ];
  assertEquals(listDurations(messages), [["One", 8_000], ["Two", 1_000]]);
});

Deno.test("listTurns: a text that waited during a run takes only the time after the reply before it", () => {
  const messages = [user("One", 1_000), reply(5_000), user("Queued", 2_000), reply(7_000)];
  assertEquals(listDurations(messages), [["One", 4_000], ["Queued", 2_000]]);
});

Deno.test("listTurns: no duration is negative when the clock was set back", () => {
  assertEquals(listDurations([user("One", 5_000), reply(1_000), reply(2_000)]), [["One", 0]]);
  assertEquals(listDurations([reply(2_000), reply(3_000)]), [["", 0]]);
});

Deno.test("listTurns: the tokens and the cost of sub-agents are those of the prompt", () => {
  const messages = [
    user("One", 1),
    reply(2),
    result(),
    user("Steered", 2),
    reply(3),
    user("Two", 4),
  ];
  assertEquals(listCosts(messages), [["One", 7, 0.5], ["Steered", 0, 0]]);
  assertEquals(listCosts([result(), user("One", 1), reply(2)]), [["One", 0, 0]]);
});

Deno.test("listTurns: a plan that was carried out is a turn of its own", () => {
  const metadata = createPlanMetadata({ ...SPENDING, durationMs: 9_000 });
  const note = { ...user("Another agent has carried out the plan", 3), metadata };
  const messages = [user("One", 1), reply(2), note, user("Two", 4), reply(5)];
  assertEquals(listCosts(messages), [["One", 0, 0], ["/execute", 7, 0.5], ["Two", 0, 0]]);
  assertEquals(listDurations(messages), [["One", 1], ["/execute", 9_000], ["Two", 1]]);
  const damaged = { ...note, metadata: { planSpending: { usage: "7", durationMs: 9 } } };
  assertEquals(listCosts([damaged]), []);
});

Deno.test("listTurns: summaries and failed replies belong to the prompt of their time, and /compact is a turn", () => {
  const summary = (timestamp: number) => ({ ...SPENDING, timestamp, isSummary: true });
  const failed = (timestamp: number) => ({ ...SPENDING, timestamp, isSummary: false });
  const messages = [
    user("One", 10),
    reply(20, ["c"]),
    { ...result(), timestamp: 30 },
    reply(40),
    user("Two", 50),
    reply(60),
  ];
  assertEquals(listCosts(messages, [summary(10)]), [["One", 14, 1], ["Two", 0, 0]]);
  assertEquals(listCosts(messages, [summary(30), failed(35)]), [["One", 21, 1.5], ["Two", 0, 0]]);
  assertEquals(
    listCosts(messages, [summary(45), failed(46)]),
    [["One", 7, 0.5], ["/compact", 7, 0.5], ["One", 7, 0.5], ["Two", 0, 0]],
  );
  assertEquals(listCosts(messages, [failed(50), summary(70)]), [
    ["One", 7, 0.5],
    ["Two", 7, 0.5],
    ["/compact", 7, 0.5],
  ]);
  assertEquals(listCosts([user("Failed", 10)], [failed(20)]), [["Failed", 7, 0.5]]);
});
