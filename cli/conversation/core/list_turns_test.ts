import { assertEquals } from "@std/assert";
import type { AgentMessage } from "../../../mod.ts";
import { zeroCost, zeroUsage } from "../../../src/core/usage.ts";
import { listTurns } from "./list_turns.ts";

function user(text: string, timestamp: number): AgentMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp };
}

function reply(timestamp: number): AgentMessage {
  return {
    role: "assistant",
    content: [],
    provider: "p",
    modelId: "m",
    usage: zeroUsage(),
    cost: zeroCost(),
    stopReason: "stop",
    timestamp,
  };
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
