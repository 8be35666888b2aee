/**
 * What a run's end means for scripts.
 *
 * @module
 */

import type { AgentErrorCode, RunOutcome } from "../mod.ts";
import { ExitCode } from "./exit_code.ts";

/** What is known when a run is over. */
export interface RunEnd {
  /** How it ended. */
  readonly outcome: RunOutcome;
  /** What a signal asks for, if one came. */
  readonly signalExitCode?: ExitCode | undefined;
  /** Whether the reader of the output went away. */
  readonly isOutputClosed?: boolean;
  /** Names of the tools that were refused because nobody could be asked. */
  readonly refused: readonly string[];
  /** Whether a patch was asked for and nothing has changed. */
  readonly isPatchEmpty?: boolean;
  /** Changed files that were too large for the patch. */
  readonly omittedFiles?: readonly string[];
}

/** Chooses the exit code: what ended the run first, then what it could not do. */
export function getRunExitCode(end: RunEnd): ExitCode {
  const {
    outcome,
    signalExitCode: interrupted,
    isOutputClosed: readerGone,
    refused,
    isPatchEmpty: emptyPatch,
  } = end;
  if (interrupted !== undefined) return interrupted;
  if (readerGone && outcome.stopReason === "aborted") return ExitCode.brokenPipe;
  if (outcome.stoppedBy || outcome.stopReason === "length") return ExitCode.limit;
  if (outcome.error) return ERROR_EXIT_CODES[outcome.error.code] ?? ExitCode.failed;
  if (outcome.stopReason === "aborted" || outcome.stopReason === "error") return ExitCode.failed;
  if (refused.length > 0) return ExitCode.refused;
  return emptyPatch ? ExitCode.noPatch : ExitCode.ok;
}

const ERROR_EXIT_CODES: Partial<Record<AgentErrorCode, ExitCode>> = {
  auth_error: ExitCode.configuration,
  model_not_found: ExitCode.configuration,
  network_error: ExitCode.unavailable,
  model_throttled: ExitCode.unavailable,
  budget_exceeded: ExitCode.limit,
};
