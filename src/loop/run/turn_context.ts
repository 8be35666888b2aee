/**
 * The context that the stages of a turn share.
 *
 * @module
 */

import type { PolicyContext } from "../../core/hooks/policy.ts";
import { cloneJson } from "../../core/json/json.ts";
import { copyAmounts } from "../../core/messages/copy_message.ts";
import type { Cancellation } from "../callbacks/cancellation.ts";
import type { TurnSettings } from "./config.ts";
import { pickLateSpending, type RunProgress } from "./run_progress.ts";
import type { RunServices } from "./run_services.ts";
import type { TurnMonitor } from "./turn_monitor.ts";

/** A run between two stages: its services, settings and progress. */
export interface RunContext {
  /** The services of the run. */
  readonly run: RunServices;
  /** The settings of the turn. */
  readonly settings: TurnSettings;
  /** The progress of the run. */
  readonly progress: RunProgress;
}

/** One turn. */
export interface TurnContext extends RunContext {
  /** Aborts the turn: with the run, or alone if a policy stops it. */
  readonly cancellation: Cancellation;
  /** Calls the `onDelta` policies; missing if there are none. */
  readonly monitor?: TurnMonitor | undefined;
}

/** Creates the context of a policy: the part that all slots share, and what one of them adds. */
export function createPolicyContext<Added extends object = object>(
  { run, settings, progress }: RunContext,
  added?: Added,
): PolicyContext & Added {
  const { history } = run;
  const count = history.messages.length;
  return {
    runId: run.runId,
    turn: progress.turn,
    model: cloneJson(settings.model),
    // A long history is copied only for a policy that reads it.
    get messages() {
      return history.snapshot(count);
    },
    usage: copyAmounts(progress.usage),
    cost: copyAmounts(progress.cost),
    ...pickLateSpending(progress),
    elapsedMs: run.elapsedMs,
    context: run.config.context,
    signal: run.cancellation.signal,
    ...added as Added,
  };
}
