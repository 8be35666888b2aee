/**
 * Tokens, cost and time of the turns of a session.
 *
 * @module
 */

import type { SessionEntry } from "../../core/sessions/session_entry.ts";

/** The measures of one turn, or of several consecutive ones: finite numbers of at least 0. */
export interface TurnMeasures {
  /** Number of the first turn, from 1. */
  readonly first: number;
  /** Number of the last turn. */
  readonly last: number;
  /** Tokens of the prompt that did not come from the cache. */
  readonly input: number;
  /** Tokens of the prompt that came from the provider's cache. */
  readonly cached: number;
  /** Tokens of the reply. */
  readonly output: number;
  /** Cost in US dollars, without what is unknown. */
  readonly cost: number;
  /** Time from the message before the reply to the last result of its tool calls, in milliseconds. */
  readonly durationMs: number;
}

/** Measures the turns on a path of entries: a reply and the results of its tool calls. */
export function measureTurns(entries: readonly SessionEntry[]): TurnMeasures[] {
  const turns: TurnMeasures[] = [];
  let startedAt: number | undefined;
  let previousAt: number | undefined;
  for (const entry of entries) {
    if (entry.type !== "message") continue;
    const { message, timestamp } = entry;
    const turn = turns.at(-1);
    if (message.role === "assistant") {
      startedAt = previousAt ?? timestamp;
      const { usage, cost } = message;
      const number = turns.length + 1;
      turns.push({
        first: number,
        last: number,
        input: toAmount(usage?.input) + toAmount(usage?.cacheWrite),
        cached: toAmount(usage?.cacheRead),
        output: toAmount(usage?.output),
        cost: toAmount(cost?.total),
        durationMs: toAmount(timestamp - startedAt),
      });
    } else if (message.role === "tool_result" && turn && startedAt !== undefined) {
      turns[turns.length - 1] = { ...turn, durationMs: toAmount(timestamp - startedAt) };
    }
    previousAt = timestamp;
  }
  return turns;
}

/** A log of another program may have any value. */
function toAmount(value: unknown): number {
  return typeof value === "number" && value >= 0 && value < 1e15 ? value : 0;
}

/** Adds up consecutive turns, so that there are at most `maximum` groups. */
export function groupTurns(turns: readonly TurnMeasures[], maximum: number): TurnMeasures[] {
  const size = Math.ceil(turns.length / maximum);
  const groups: TurnMeasures[] = [];
  for (const turn of turns) {
    const group = groups.at(-1);
    if (!group || group.last - group.first + 1 >= size) groups.push(turn);
    else groups[groups.length - 1] = addTurns(group, turn);
  }
  return groups;
}

function addTurns(group: TurnMeasures, turn: TurnMeasures): TurnMeasures {
  return {
    first: group.first,
    last: turn.last,
    input: group.input + turn.input,
    cached: group.cached + turn.cached,
    output: group.output + turn.output,
    cost: group.cost + turn.cost,
    durationMs: group.durationMs + turn.durationMs,
  };
}
