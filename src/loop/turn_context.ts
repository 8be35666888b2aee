/**
 * The context that the stages of a turn share.
 *
 * @module
 */

import type { PolicyContext } from "../core/policy.ts";
import type { TurnSettings } from "./config.ts";
import type { RunProgress } from "./run_progress.ts";
import type { RunServices } from "./run_services.ts";

/** One turn: the services and the progress of its run, and its settings. */
export interface TurnContext {
  /** The services of the run. */
  readonly run: RunServices;
  /** The settings of this turn. */
  readonly settings: TurnSettings;
  /** The progress of the run. */
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
