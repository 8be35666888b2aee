/**
 * A run of one prompt, from the first event to the exit code.
 *
 * @module
 */

import { AbortedError, type AgentEvent, BadRequestError, type RunOutcome } from "../../mod.ts";
import type { AgentEndEvent } from "../../src/loop/mod.ts";
import type { DirectorySnapshot } from "../../src/patch/mod.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import type { InterruptHandler } from "../host/interrupt.ts";
import { VERSION } from "../host/version.ts";
import type { Reporter, RunReport, RunStart } from "../render/reporter.ts";
import { createConfinementWarning } from "./confinement_warning.ts";
import { reportRunEnd } from "./run_end_message.ts";
import { getRunExitCode, type RunEnd } from "./run_exit_code.ts";
import { toRunSandbox } from "./run_sandbox.ts";
import { RunStartReport } from "./run_start_report.ts";
import type { RunSettings } from "./settings.ts";
import type { AgentSetup } from "./setup_agent.ts";
import { writePatch } from "./write_patch.ts";

/** Options for `runHeadless()`. */
export interface HeadlessRunOptions
  extends Pick<RunSettings, "cwd" | "patch" | "outputFormat" | "net" | "sandbox" | "baseUrl"> {
  /** The prompt. */
  readonly prompt: string;
  /** The agent and its tools. */
  readonly setup: AgentSetup;
  /** Receives the events and the result. */
  readonly reporter: Reporter;
  /** Resolves when the first request has been sent. Default: the first event of the reply shows that. */
  readonly firstRequest?: Promise<void>;
  /** Aborts the run. */
  readonly interrupt: Pick<InterruptHandler, "signal" | "exitCode">;
  /** Terminal and environment. */
  readonly host: Host;
}

/** Runs a prompt and writes the patch, also when the run fails or is aborted. */
export async function runHeadless(run: HeadlessRunOptions): Promise<ExitCode> {
  const { patch, interrupt, reporter, host, setup } = run;
  using snapshot = patch === undefined ? undefined : await takeSnapshot(run.cwd, interrupt.signal);
  if (interrupt.exitCode !== undefined) return interrupt.exitCode;
  const { outcome, turns, durationMs, runId, attempts } = await promptAgent(run);
  const created = await snapshot?.createPatch();
  const changes = created?.bytes;
  const end: RunEnd = {
    outcome,
    signalExitCode: interrupt.exitCode,
    isOutputClosed: host.terminal.output.closed.aborted,
    attempts,
    refused: setup.refused,
    ...(created &&
      { isPatchEmpty: created.bytes.length === 0, omittedFiles: created.omittedFiles }),
  };
  const { usage, cost } = outcome;
  const exitCode = getRunExitCode(end);
  const report: RunReport = {
    ...end,
    runId,
    model: setup.agent.state.model,
    turns,
    usage,
    cost,
    durationMs,
    exitCode,
  };
  const isPatchInReport = patch === "-" && run.outputFormat !== "text";
  await reporter.onRunEnd(report, isPatchInReport ? new TextDecoder().decode(changes) : undefined);
  if (patch !== undefined && changes && !isPatchInReport) await writePatch(changes, patch, host);
  await reportRunEnd(end, { exitCode, host, baseUrl: run.baseUrl });
  // The reader may have closed the output before the end of the result.
  return exitCode === ExitCode.ok && host.terminal.output.closed.aborted
    ? ExitCode.brokenPipe
    : exitCode;
}

/** Takes a snapshot of the working directory; `undefined` when the signal is aborted. */
async function takeSnapshot(
  cwd: string,
  signal: AbortSignal,
): Promise<DirectorySnapshot | undefined> {
  const { DirectorySnapshot } = await import("../../src/patch/mod.ts");
  try {
    return await DirectorySnapshot.take(cwd, { signal });
  } catch (error) {
    if (error instanceof AbortedError) return undefined;
    if (!(error instanceof BadRequestError)) throw error;
    const advice = "Choose a smaller directory with --cwd, or omit --patch.";
    throw new ConfigurationError(error.message, advice);
  }
}

interface PromptResult {
  readonly outcome: RunOutcome;
  readonly runId: string;
  /** Number of attempts of the last model call. */
  readonly attempts: number;
  readonly turns: number;
  readonly durationMs: number;
}

/** Prompts the agent and reports every event. Aborts the run when the reader of the output closes it. */
async function promptAgent(run: HeadlessRunOptions): Promise<PromptResult> {
  const { setup: { agent }, reporter, firstRequest, interrupt, host } = run;
  const start = new RunStartReport({ reporter, getStart: () => getRunStart(run) });
  // A failure is reported with the next event.
  firstRequest?.then(() => start.report()).catch(() => {});
  const signal = AbortSignal.any([interrupt.signal, host.terminal.output.closed]);
  const startedAt = host.now();
  let runId = "";
  let attempts = 1;
  let turns = 0;
  let outcome: RunOutcome | undefined;
  for await (const event of agent.promptStream(run.prompt, { signal })) {
    if (event.type === "agent_start") runId = event.runId;
    if (event.type === "turn_start") {
      turns++;
      attempts = 1;
    }
    if (event.type === "retry") attempts++;
    if (event.type === "agent_end") outcome = toRunOutcome(event);
    await start.onEvent(event);
  }
  await start.report();
  if (!outcome) throw new Error("The run ended without an agent_end event");
  return { outcome, runId, attempts, turns, durationMs: host.now() - startedAt };
}

async function getRunStart(
  { setup, cwd, net, sandbox: mode }: HeadlessRunOptions,
): Promise<{ readonly start: RunStart; readonly warning: string | undefined }> {
  const { agent, approvalMode, isInteractive } = setup;
  const { model, tools } = agent.state;
  const names = tools.map(({ name }) => name);
  const report = await setup.describeSandbox();
  const sandbox = toRunSandbox(mode, report);
  return {
    start: {
      version: VERSION,
      cwd,
      model,
      tools: names,
      approvalMode,
      isInteractive,
      net,
      sandbox,
    },
    warning: names.includes("bash") ? createConfinementWarning(mode, report) : undefined,
  };
}

function toRunOutcome(
  { type: _type, seq: _seq, ...outcome }: AgentEndEvent & AgentEvent,
): RunOutcome {
  return outcome;
}
