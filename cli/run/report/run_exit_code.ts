/**
 * The exit code of a run.
 *
 * @module
 */

import type { AgentErrorCode, RunOutcome } from "../../../mod.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { pointsToBaseUrl } from "../../render/error_text.ts";

/** Result of a run, which determines its exit code. */
export interface RunEnd {
  /** Outcome of the agent. */
  readonly outcome: RunOutcome;
  /** Exit code for a received signal. */
  readonly signalExitCode?: ExitCode | undefined;
  /** Whether the reader of the output closed it. */
  readonly isOutputClosed?: boolean;
  /** Number of attempts of the last model call. Default: 1. */
  readonly attempts?: number;
  /** Whether the run has an answer. */
  readonly hasText?: boolean;
  /** Names of the tools that were refused because approval was not possible. */
  readonly refused: readonly string[];
  /** Whether a patch was requested and nothing changed. */
  readonly isPatchEmpty?: boolean;
  /** Changed files that are too large for the patch. */
  readonly omittedFiles?: readonly string[];
}

/** Returns the exit code for the reason that ended the run, else for refused calls, else for an empty patch. */
export function getRunExitCode(end: RunEnd): ExitCode {
  const { outcome, signalExitCode, isOutputClosed, refused, isPatchEmpty } = end;
  if (signalExitCode !== undefined) return signalExitCode;
  if (isOutputClosed) return ExitCode.brokenPipe;
  if (outcome.stoppedBy || outcome.stopReason === "length") return ExitCode.limit;
  if (outcome.error && pointsToBaseUrl(outcome.error)) return ExitCode.configuration;
  if (outcome.error) return ERROR_EXIT_CODES[outcome.error.code] ?? ExitCode.failed;
  if (outcome.stopReason === "aborted" || outcome.stopReason === "error") return ExitCode.failed;
  if (refused.length > 0) return ExitCode.refused;
  return isPatchEmpty ? ExitCode.noPatch : ExitCode.ok;
}

const ERROR_EXIT_CODES: Partial<Record<AgentErrorCode, ExitCode>> = {
  auth_error: ExitCode.configuration,
  model_not_found: ExitCode.configuration,
  network_error: ExitCode.unavailable,
  model_throttled: ExitCode.unavailable,
  budget_exceeded: ExitCode.limit,
};
