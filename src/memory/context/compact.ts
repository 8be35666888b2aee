/**
 * Compaction on request.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { CompactionReport } from "../../core/compaction_report.ts";
import { AlreadyRunningError } from "../../core/errors.ts";
import type { CompactingTransform, CompactOptions } from "./compaction.ts";

/** Options for {@linkcode compact}. */
export interface CompactNowOptions extends CompactOptions {
  /** Aborts the compaction. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes the next request of an idle agent smaller, as its transform does at the threshold; resolves to `null` if there
 * is nothing to omit. If a summary cannot be written and the messages still fit, nothing is omitted, and the report has
 * the `problem`. A recorded session has the compaction when the promise resolves. The agent emits `context_compacted` with
 * that request. Rejects with an `AbortedError` if `signal` is aborted.
 *
 * @throws {AlreadyRunningError} While a run is active.
 * @throws {ContextWindowOverflowError} If the messages to keep do not fit.
 */
export async function compact(
  agent: Agent,
  transform: CompactingTransform,
  { signal = new AbortController().signal, instructions, tokens }: CompactNowOptions = {},
): Promise<CompactionReport | null> {
  const { isRunning, messages, model, systemPrompt, tools } = agent.state;
  if (isRunning) throw new AlreadyRunningError();
  const input = { overflow: false, model, systemPrompt, tools, signal };
  return await transform.compact(messages.slice(), input, { instructions, tokens });
}
