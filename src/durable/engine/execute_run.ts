/**
 * Executes a run of a workflow until it ends.
 *
 * @module
 */

import type { WorkflowFunction } from "../../core/durable/durable_engine.ts";
import { getErrorMessage } from "../../core/errors/errors.ts";
import type { JsonValue } from "../../core/json/json.ts";
import type { Clock } from "../../core/ports/ports.ts";
import { RunSteps } from "../steps/run_steps.ts";
import { DetachedError, type StepJournal } from "../steps/step_journal.ts";
import { captureOutcome } from "../steps/step_record.ts";
import type { DurableOutcome } from "./run_outcome.ts";

/** A workflow and its input. */
export interface ExecutedRun {
  /** The code of the workflow. */
  readonly workflow: WorkflowFunction<never, unknown>;
  /** The input. */
  readonly input: JsonValue;
  /** The clock. Default: that of the runtime. */
  readonly clock?: Clock | undefined;
}

/**
 * Runs the code of a workflow and returns its outcome. An error of the code is an outcome, and so is a divergence.
 *
 * @throws {DetachedError} If this process must no longer execute the run.
 */
export async function executeRun(
  journal: StepJournal,
  { workflow, input, clock }: ExecutedRun,
): Promise<DurableOutcome> {
  const steps = new RunSteps(journal, clock);
  const call = () => workflow(steps, input as never);
  const outcome = await captureOutcome(call, journal.closing).catch((error) => {
    throw new DetachedError(getErrorMessage(error));
  });
  const { failure } = steps;
  if (failure instanceof DetachedError) throw failure;
  // Readers have all events when the outcome is recorded. Those that wait for the first one learn about a failure.
  await steps.endEvents({ isAlways: failure !== undefined || "error" in outcome });
  // Another process has the run, and publishes the events that were not stored.
  if (journal.detached.aborted) throw journal.detached.reason;
  if (failure) return { type: "failed", error: { message: failure.message, code: "bad_request" } };
  if (steps.signal.aborted) {
    const reason = getErrorMessage(steps.signal.reason);
    return { type: "aborted", reason, ...("value" in outcome && { value: outcome.value }) };
  }
  return "error" in outcome
    ? { type: "failed", error: outcome.error }
    : { type: "completed", value: outcome.value };
}
