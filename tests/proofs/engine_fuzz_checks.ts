/**
 * Invariants of a run.
 *
 * @module
 */

import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import type { PendingApproval } from "../../src/core/approval/approval.ts";
import type {
  AgentEndEvent,
  AgentEvent,
  MessageStartEvent,
  RunOutcome,
} from "../../src/core/events/event.ts";
import { repairHistory } from "../../src/core/messages/history.ts";
import type { AgentMessage } from "../../src/core/messages/message.ts";
import {
  addCost,
  addUsage,
  type Cost,
  type Usage,
  zeroCost,
  zeroUsage,
} from "../../src/core/models/usage.ts";
import { findNonJson } from "./engine_fuzz_objects.ts";

/** Asserts that a history is valid, except for the tool calls of its last reply that wait for approvals, and is JSON. */
export function assertValidHistory(
  messages: readonly AgentMessage[],
  pending: readonly PendingApproval[],
): void {
  const pendingCalls = new Set(pending.map(({ toolCallId }) => toolCallId));
  assertEquals(repairHistory(messages, { pendingCalls }).repairs, [], "repairs");
  assertEquals(findNonJson(messages, "history"), undefined);
}

/** Asserts that the tokens and the cost of a run are the sums of its parts. */
export function assertSums(events: readonly AgentEvent[], outcome: RunOutcome): void {
  const { usage, cost, lateSpending = [] } = outcome;
  let expectedUsage = zeroUsage();
  let expectedCost = zeroCost();
  for (const part of [...events.flatMap(getSpending), ...lateSpending]) {
    expectedUsage = addUsage(expectedUsage, part.usage ?? zeroUsage());
    expectedCost = addCost(expectedCost, part.cost ?? zeroCost());
  }
  assertSameUsage(usage, expectedUsage, "usage is the sum of the parts");
  assertSameCost(cost, expectedCost);
}

interface Spending {
  readonly usage?: Usage | undefined;
  readonly cost?: Cost | undefined;
}

function getSpending(event: AgentEvent): readonly Spending[] {
  if (event.type === "model_call_end") return [event];
  if (event.type === "context_compacted") return [event.report];
  return event.type === "tool_execution_end" ? [event.result] : [];
}

function assertSameCost(actual: Cost, expected: Cost): void {
  for (const name of ["input", "output", "cacheRead", "cacheWrite", "total"] as const) {
    const [left, right] = [actual[name], expected[name]];
    if (left === null || right === null) assertEquals(left, right, `cost: ${name}`);
    else assertAlmostEquals(left, right, 1e-9, `cost: ${name}`);
  }
}

/** Asserts that the tokens of each reply are those of its model calls, of which at most the last one is not discarded. */
export function assertReplyUsage(events: readonly AgentEvent[]): void {
  let calls: Usage[] | undefined;
  for (const event of events) {
    if (event.type === "message_start") calls = isReplyStart(event) ? [] : undefined;
    if (event.type === "model_call_end") calls?.push(event.usage);
    if (event.type !== "message_end" || event.message.role !== "assistant" || !calls) continue;
    const { usage } = event.message;
    assertSameUsage(usage, calls.reduce(addUsage, zeroUsage()), "usage of the reply");
    // All are discarded if a policy or an abort has prevented the last call.
    const possible = [calls.slice(0, -1), calls].map(countTokens);
    const discarded = usage.extra?.["discarded"] ?? 0;
    assert(possible.includes(discarded), `${discarded} tokens discarded, not ${possible}`);
  }
}

function countTokens(calls: readonly Usage[]): number {
  return calls.reduce(
    (sum, { input, output, cacheRead, cacheWrite }) =>
      sum + input + output + cacheRead + cacheWrite,
    0,
  );
}

/** Asserts that two usages are the same, except for the count of discarded attempts, which only a reply has. */
function assertSameUsage(actual: Usage, expected: Usage, message: string): void {
  const [left, right] = [actual, expected].map(({ extra = {}, ...usage }) => {
    const { discarded: _discarded, ...others } = extra;
    return { ...usage, extra: others };
  });
  assertEquals(left, right, message);
}

function isReplyStart({ message }: MessageStartEvent): boolean {
  return message.role === "assistant" && message.content.length === 0;
}

/** Returns the last event, which must be the end of a run. */
export function getRunEnd(events: readonly AgentEvent[]): AgentEndEvent {
  const end = events.at(-1);
  assert(end?.type === "agent_end", "the last event is agent_end");
  return end;
}
