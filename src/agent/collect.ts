/**
 * A run's events become its result.
 *
 * @module
 */

import { StreamError } from "../core/errors.ts";
import type { AgentEvent, RunOutcome } from "../core/event.ts";

/** What a run comes to. */
export interface AgentResult extends RunOutcome {
  /** How many turns it took. */
  readonly turns: number;
}

/**
 * Reads a run to its end.
 *
 * Rejects with what the stream fails with: a misuse such as {@linkcode AlreadyRunningError}.
 */
export async function collectResult(events: AsyncIterable<AgentEvent>): Promise<AgentResult> {
  let turns = 0;
  let end: Extract<AgentEvent, { type: "agent_end" }> | undefined;
  for await (const event of events) {
    if (event.type === "turn_start") turns++;
    else if (event.type === "agent_end") end = event;
  }
  if (!end) throw new StreamError("The run ended without an agent_end event");
  const { type: _type, seq: _seq, ...outcome } = end;
  return { ...outcome, turns };
}
