/**
 * Tokens, cost and duration of the prompts of a history.
 *
 * @module
 */

import type { AgentMessage } from "../../../mod.ts";
import { addCost, addUsage, zeroCost, zeroUsage } from "../../../src/core/usage.ts";
import type { TurnUsage } from "../../render/status/turn_usage.ts";
import { parsePlanMetadata } from "../../sessions/user_notes.ts";
import { getUserText } from "./user_text.ts";

/** Returns the usage of each prompt that has replies. */
export function listTurns(messages: readonly AgentMessage[]): TurnUsage[] {
  const turns: TurnUsage[] = [];
  let startedAt: number | undefined;
  let endedAt = -Infinity;
  let isFirst = true;
  let label = "";
  for (const message of messages) {
    if (message.role === "user") {
      // A text that was queued begins with the end of the reply before it.
      startedAt = Math.max(message.timestamp, endedAt);
      isFirst = true;
      label = getUserText(message);
      const plan = parsePlanMetadata(message.metadata);
      if (plan) turns.push({ label: "/execute", ...plan });
    }
    if (message.role === "tool_result") {
      const { usage = zeroUsage(), cost = zeroCost() } = message;
      const turn = turns.pop();
      // The agents that the call has started belong to the prompt.
      if (turn) {
        turns.push({
          ...turn,
          usage: addUsage(turn.usage, usage),
          cost: addCost(turn.cost, cost),
        });
      }
    }
    if (message.role !== "assistant") continue;
    const { usage, cost, timestamp } = message;
    const turn = isFirst ? undefined : turns.pop();
    turns.push({
      label,
      usage: addUsage(turn?.usage ?? zeroUsage(), usage),
      cost: addCost(turn?.cost ?? zeroCost(), cost),
      durationMs: Math.max(timestamp - (startedAt ?? timestamp), turn?.durationMs ?? 0, 0),
    });
    endedAt = Math.max(timestamp, endedAt);
    isFirst = false;
  }
  return turns;
}
