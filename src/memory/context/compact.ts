/**
 * Compaction by hand.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { CompactionReport } from "../../core/context.ts";
import { AlreadyRunningError } from "../../core/errors.ts";
import type { CompactingTransform, CompactOptions } from "./compaction.ts";

/** Options of {@linkcode compact}. */
export interface CompactNowOptions extends CompactOptions {
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

/**
 * Makes an idle agent's next request smaller, as its own transform would at the threshold; `null` when there is
 * nothing to leave out. The agent tells of it, with a `context_compacted` event, when that request is made.
 *
 * @throws {AlreadyRunningError} While a run is active.
 * @throws {ContextWindowOverflowError} When what must stay does not fit.
 */
export async function compact(
  agent: Agent,
  transform: CompactingTransform,
  { signal = new AbortController().signal, instructions }: CompactNowOptions = {},
): Promise<CompactionReport | null> {
  const { isRunning, messages, model, systemPrompt, tools } = agent.state;
  if (isRunning) throw new AlreadyRunningError();
  const input = { overflow: false, model, systemPrompt, tools, signal };
  const options = instructions === undefined ? {} : { instructions };
  return await transform.compact(messages.slice(), input, options);
}
