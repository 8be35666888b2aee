/**
 * The context that every stage of a turn gets.
 *
 * @module
 */

import type { PolicyContext } from "../core/policy.ts";
import type { TurnSettings } from "./config.ts";
import type { RunProgress } from "./run_progress.ts";
import type { RunServices } from "./run_services.ts";

/** One turn: the services of its run, its settings, and the result so far. */
export interface TurnContext {
  /** The services of the run. */
  readonly run: RunServices;
  /** The settings of this turn. */
  readonly settings: TurnSettings;
  /** The result of the run so far. */
  readonly progress: RunProgress;
}

/** Creates the part of a policy's context that all slots share. */
export function createPolicyContext({ run, settings, progress }: TurnContext): PolicyContext {
  return {
    runId: run.runId,
    turn: progress.turn,
    model: settings.model,
    messages: run.history.messages,
    usage: progress.usage,
    cost: progress.cost,
    elapsedMs: run.elapsedMs,
    signal: run.cancellation.signal,
  };
}
