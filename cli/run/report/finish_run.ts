/**
 * The end of a run: its report, its patch and its exit code.
 *
 * @module
 */

import type { RunOutcome } from "../../../mod.ts";
import type { DirectorySnapshot } from "../../../src/patch/mod.ts";
import { ConfigurationError } from "../../host/cli_error.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { getFileProblem } from "../../host/file_problem.ts";
import type { Host } from "../../host/host.ts";
import type { InterruptHandler } from "../../host/interrupt.ts";
import { getFinalText } from "../../render/final_text.ts";
import type { Reporter, RunReport } from "../../render/reporter.ts";
import type { RunSession } from "../../sessions/run_session.ts";
import type { AgentSetup } from "../agent/setup_agent.ts";
import type { RunSettings } from "../settings/settings.ts";
import { reportRunEnd } from "./run_end_message.ts";
import { getRunExitCode, type RunEnd } from "./run_exit_code.ts";
import { writePatch } from "./write_patch.ts";

/** An agent to run, and the settings of its output. */
export interface PreparedAgent extends
  Pick<
    RunSettings,
    "patch" | "outputFormat" | "baseUrl" | "providers" | "maxCost" | "lastMessageFile" | "schema"
  > {
  /** The agent and its tools. */
  readonly setup: AgentSetup;
  /** The session of the run; `undefined` if it is not saved. */
  readonly session?: RunSession | undefined;
  /** Aborts the run. */
  readonly interrupt: Pick<InterruptHandler, "signal" | "exitCode">;
  /** Whether the working directory is removed after the run. Default: `false`. */
  readonly isTemporary?: boolean;
  /** Terminal and environment. */
  readonly host: Host;
}

/** The result of a prompt. */
export interface PromptResult {
  /** Outcome of the agent. */
  readonly outcome: RunOutcome;
  /** The answer that matches the schema, if there is a schema. */
  readonly answer?: { readonly value: unknown };
  /** Id of the run. */
  readonly runId: string;
  /** Number of attempts of the last model call. */
  readonly attempts: number;
  /** Number of turns. */
  readonly turns: number;
  /** Duration of the run in milliseconds. */
  readonly durationMs: number;
}

/** Options for `finishRun()`. */
export interface FinishOptions {
  /** Result of the agent. */
  readonly result: PromptResult;
  /** Receives the report. */
  readonly reporter: Reporter;
  /** The working directory before the run, if a patch was requested. */
  readonly snapshot: DirectorySnapshot | undefined;
}

/** Reports the end of a run, and writes its patch and its last message. Returns the exit code of the program. */
export async function finishRun(
  run: PreparedAgent,
  { result, reporter, snapshot }: FinishOptions,
): Promise<ExitCode> {
  const { interrupt, host, baseUrl, providers, maxCost, isTemporary } = run;
  const isPatchInReport = run.patch === "-" && run.outputFormat !== "text";
  // A text in JSON cannot have the bytes of every file.
  const patch = await snapshot?.createPatch({ asText: isPatchInReport });
  const text = getAnswerText(run, result);
  const end: RunEnd = {
    outcome: result.outcome,
    signalExitCode: interrupt.exitCode,
    isOutputClosed: host.terminal.output.closed.aborted,
    attempts: result.attempts,
    refused: run.setup.refused,
    hasText: text !== "",
    ...(patch && { isPatchEmpty: patch.bytes.length === 0, omittedFiles: patch.omittedFiles }),
  };
  const exitCode = getRunExitCode(end);
  const report = await createReport(run, result, { ...end, exitCode, text });
  await warnAboutSession(run, { outcome: result.outcome, reporter });
  try {
    const reportedPatch = isPatchInReport ? new TextDecoder().decode(patch?.bytes) : undefined;
    await reporter.onRunEnd(report, reportedPatch);
  } finally {
    // The files are written even if the report cannot be, such as on a full disk.
    if (run.patch !== undefined && patch && !isPatchInReport) {
      await writePatch(patch.bytes, run.patch, host);
    }
    if (run.lastMessageFile !== undefined) await writeLastMessage(run.lastMessageFile, text);
  }
  await reportRunEnd(end, { exitCode, host, baseUrl, providers, maxCost, isTemporary });
  // The reader may have closed the output before the end of the result.
  return exitCode === ExitCode.ok && host.terminal.output.closed.aborted
    ? interrupt.exitCode ?? ExitCode.brokenPipe
    : exitCode;
}

async function createReport(
  { setup, session }: PreparedAgent,
  { outcome: { usage, cost }, answer, runId, turns, durationMs }: PromptResult,
  end: RunEnd & Pick<RunReport, "exitCode" | "text">,
): Promise<RunReport> {
  return {
    ...end,
    runId,
    turns,
    durationMs,
    usage,
    cost,
    model: setup.agent.state.model,
    sessionId: (await session?.describe())?.id ?? null,
    ...(answer && { answer }),
  };
}

/** Returns the text of the answer; empty without one that matches the schema, since a pipe hides the exit code. */
function getAnswerText(
  { schema }: Pick<PreparedAgent, "schema">,
  { outcome, answer }: Pick<PromptResult, "outcome" | "answer">,
): string {
  if (answer) return JSON.stringify(answer.value, null, 2);
  return schema ? "" : getFinalText(outcome.messages);
}

/** Reports that the end of a complete run was not saved. A run that was aborted for that reason has it as its own. */
async function warnAboutSession(
  { session }: Pick<PreparedAgent, "session">,
  { outcome, reporter }: Pick<PromptResult, "outcome"> & Pick<FinishOptions, "reporter">,
): Promise<void> {
  const failure = session?.takeFailure();
  if (!failure || failure === outcome.abortReason) return;
  await reporter.onNotice(`warning: ${getFileProblem(failure)}`);
}

/** Writes the text of the last reply to a file. */
async function writeLastMessage(file: string, text: string): Promise<void> {
  try {
    await Deno.writeTextFile(file, `${text}\n`);
  } catch (error) {
    throw new ConfigurationError(`${file} cannot be written: ${getFileProblem(error)}`);
  }
}
