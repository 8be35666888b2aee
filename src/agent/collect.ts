/**
 * Collects the result of a run from its events.
 *
 * @module
 */

import { StreamError } from "../core/errors.ts";
import type { AgentEvent, RunOutcome } from "../core/event.ts";

/** The result of a run. */
export interface AgentResult extends RunOutcome {
  /** Number of turns. */
  readonly turns: number;
}

/**
 * Reads the events of a run and returns its result.
 *
 * Rejects if the stream errors, which it does for misuse, such as a prompt while another run is active.
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
