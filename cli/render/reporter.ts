/**
 * Ways of telling of a run while it goes on, and when it is over.
 *
 * @module
 */

import type { AgentEvent, ModelSpec, RunOutcome } from "../../mod.ts";
import type { ExitCode } from "../exit_code.ts";
import type { RunTotals } from "./usage_line.ts";

/** What a run begins with. */
export interface RunStart {
  /** Version of the program. */
  readonly version: string;
  /** The folder it works in. */
  readonly cwd: string;
  /** The model. */
  readonly model: ModelSpec;
  /** The names of its tools. */
  readonly tools: readonly string[];
  /** Which tool calls are asked about. */
  readonly approvalMode: string;
}

/** What a run came to. */
export interface RunReport extends RunTotals {
  /** What the library says. */
  readonly outcome: RunOutcome;
  /** What the program will exit with. */
  readonly exitCode: ExitCode;
  /** Names of the tools that were refused because nobody could be asked. */
  readonly refused: readonly string[];
}

/** Tells of a run. */
export interface Reporter {
  /** The run is about to begin. */
  onRunStart(opening: RunStart): Promise<void>;
  /** Something happened. */
  onEvent(event: AgentEvent): Promise<void>;
  /** The run is over; `patch` is given where it belongs into the report. */
  onRunEnd(report: RunReport, patch?: string): Promise<void>;
}
