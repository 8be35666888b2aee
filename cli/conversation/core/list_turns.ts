/**
 * Tokens, cost and duration of the prompts of a history.
 *
 * @module
 */

import type { AgentMessage } from "../../../mod.ts";
import { addCost, addUsage, zeroCost, zeroUsage } from "../../../src/core/usage.ts";
import type { TurnUsage } from "../../render/status/turn_usage.ts";
import { getUserText } from "./user_text.ts";

/** Returns the usage of each prompt that has replies. */
export function listTurns(messages: readonly AgentMessage[]): TurnUsage[] {
  const turns: TurnUsage[] = [];
  let startedAt: number | undefined;
  let label = "";
  for (const message of messages) {
    if (message.role === "user") {
      ({ timestamp: startedAt } = message);
      label = getUserText(message);
    }
    if (message.role !== "assistant") continue;
    const { usage, cost, timestamp } = message;
    const isFirst = startedAt !== undefined;
    const turn = isFirst ? undefined : turns.pop();
    const durationMs = (turn?.durationMs ?? 0) + Math.max(timestamp - (startedAt ?? timestamp), 0);
    turns.push({
      label,
      usage: addUsage(turn?.usage ?? zeroUsage(), usage),
      cost: addCost(turn?.cost ?? zeroCost(), cost),
      durationMs,
    });
    startedAt = undefined;
  }
  return turns;
}
