/**
 * The interface of reporters, which present a run to users or programs.
 *
 * @module
 */

import type { AgentEvent, ModelSpec, RunOutcome } from "../../mod.ts";
import type { SandboxNet, SandboxStatus } from "../../src/tools/mod.ts";
import type { ExitCode } from "../host/exit_code.ts";
import type { RunTotals } from "./usage_line.ts";

/** Version of the `init` and `result` objects; a change that programs cannot ignore increments it. */
export const SCHEMA_VERSION = 1;

/** Properties of a run that are known at its start. */
export interface RunStart {
  /** Version of the program. */
  readonly version: string;
  /** Working directory. */
  readonly cwd: string;
  /** The model. */
  readonly model: ModelSpec;
  /** Names of the tools. */
  readonly tools: readonly string[];
  /** The tool calls that require approval; `plan` in plan mode. */
  readonly approvalMode: string;
  /** Whether the user can be asked for approvals. */
  readonly isInteractive: boolean;
  /** Network access of commands. */
  readonly net: SandboxNet;
  /** Confinement of commands. */
  readonly sandbox: RunSandbox;
  /** Id of the session; `null` if the run is not saved. */
  readonly sessionId: string | null;
  /** The project. */
  readonly project: RunProject;
}

/** The project of a run. Paths of files are relative to the root. */
export interface RunProject {
  /** Absolute path of its root; `null` with `--bare`. */
  readonly root: string | null;
  /** The files that the program loaded. */
  readonly loaded: readonly string[];
  /** The files that it did not load because the user does not trust the project. */
  readonly ignored: readonly string[];
}

/** Confinement of the commands of a run. */
export interface RunSandbox {
  /** Whether the kernel enforces all rules for commands, some of them, or none; `off` when none was requested. */
  readonly status: SandboxStatus | "off";
  /** The mechanisms that enforce them, such as `Landlock` and `seccomp`. */
  readonly mechanisms: readonly string[];
}

/** The result of a run. */
export interface RunReport extends RunTotals {
  /** Id of the run. */
  readonly runId: string;
  /** Id of the session; `null` if the run is not saved. */
  readonly sessionId: string | null;
  /** The model at the end of the run. */
  readonly model: ModelSpec;
  /** The text of the last reply, or the answer that matches the schema as JSON. */
  readonly text: string;
  /** The answer that matches the schema, if there is a schema. */
  readonly answer?: { readonly value: unknown };
  /** Outcome of the agent. */
  readonly outcome: RunOutcome;
  /** Exit code of the program. */
  readonly exitCode: ExitCode;
  /** Names of the tools that were refused because approval was not possible. */
  readonly refused: readonly string[];
}

/** Presents a run. Disposing of it stops its timers. */
export interface Reporter extends Disposable {
  /** Called before the first event. */
  onRunStart(start: RunStart): Promise<void>;
  /** Called with every event. */
  onEvent(event: AgentEvent): Promise<void>;
  /** Called with a notice of the program. */
  onNotice(notice: string): Promise<void>;
  /** Called after the last event; `patch` is given when it is part of the report. */
  onRunEnd(report: RunReport, patch?: string): Promise<void>;
}
