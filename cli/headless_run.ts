/**
 * One prompt, from the first event to the exit code, with nobody to talk to.
 *
 * @module
 */

import { type AgentEvent, BadRequestError, type RunOutcome } from "../mod.ts";
import type { AgentEndEvent } from "../src/loop/mod.ts";
import { DirectorySnapshot, makePatch } from "../src/patch/mod.ts";
import { ConfigurationError } from "./cli_error.ts";
import type { RunSettings } from "./commands/run_settings.ts";
import type { ExitCode } from "./exit_code.ts";
import type { Host } from "./host.ts";
import type { InterruptHandler } from "./interrupt.ts";
import { writePatch } from "./write_patch.ts";
import type { Reporter, RunReport } from "./render/reporter.ts";
import { getRunExitCode, type RunEnd } from "./run_exit_code.ts";
import { reportRunEnd } from "./run_end_message.ts";
import type { AgentSetup } from "./setup_agent.ts";
import { VERSION } from "./version.ts";

/** What a run needs. */
export interface HeadlessRunOptions extends Pick<RunSettings, "cwd" | "patch" | "outputFormat"> {
  /** What to work on. */
  readonly prompt: string;
  /** Who works on it. */
  readonly setup: AgentSetup;
  /** Who tells of it. */
  readonly reporter: Reporter;
  /** Stops it. */
  readonly interrupt: Pick<InterruptHandler, "signal" | "exitCode">;
  /** Where it happens. */
  readonly host: Host;
}

/** Runs a prompt; what has changed is kept, and the patch written, however it ends. */
export async function runHeadless(run: HeadlessRunOptions): Promise<ExitCode> {
  const { patch, interrupt, reporter, host, setup } = run;
  using snapshot = patch === undefined ? undefined : await takeSnapshot(run.cwd, interrupt.signal);
  if (interrupt.exitCode !== undefined) return interrupt.exitCode;
  const { outcome, turns, durationMs } = await promptAgent(run);
  const changes = snapshot && await makePatch(snapshot);
  const end: RunEnd = {
    outcome,
    signalExitCode: interrupt.exitCode,
    isOutputClosed: host.terminal.output.closed.aborted,
    refused: setup.refused,
    ...(snapshot && { isPatchEmpty: changes?.length === 0, omittedFiles: snapshot.tooLarge }),
  };
  const { usage, cost } = outcome;
  const exitCode = getRunExitCode(end);
  const report: RunReport = { ...end, turns, usage, cost, durationMs, exitCode };
  const isPartOfReport = patch === "-" && run.outputFormat !== "text";
  await reporter.onRunEnd(report, isPartOfReport ? new TextDecoder().decode(changes) : undefined);
  if (patch !== undefined && changes && !isPartOfReport) await writePatch(changes, patch, host);
  await reportRunEnd(end, exitCode, host);
  return exitCode;
}

async function takeSnapshot(cwd: string, signal: AbortSignal): Promise<DirectorySnapshot> {
  try {
    return await DirectorySnapshot.create(cwd, signal);
  } catch (error) {
    if (!(error instanceof BadRequestError)) throw error;
    const advice = "Work in a smaller folder (--cwd), or without --patch.";
    throw new ConfigurationError(error.message, advice);
  }
}

interface PromptResult {
  readonly outcome: RunOutcome;
  readonly turns: number;
  readonly durationMs: number;
}

/** Prompts the agent and hands every event on. Without a reader, there is nobody to work for. */
async function promptAgent(run: HeadlessRunOptions): Promise<PromptResult> {
  const { setup, reporter, interrupt, host } = run;
  const { agent, approvalMode } = setup;
  const { model, tools } = agent.state;
  const names = tools.map(({ name }) => name);
  await reporter.onRunStart({ version: VERSION, cwd: run.cwd, model, tools: names, approvalMode });
  const signal = AbortSignal.any([interrupt.signal, host.terminal.output.closed]);
  const begin = performance.now();
  let turns = 0;
  let outcome: RunOutcome | undefined;
  for await (const event of agent.promptStream(run.prompt, { signal })) {
    if (event.type === "turn_start") turns++;
    if (event.type === "agent_end") outcome = toRunOutcome(event);
    await reporter.onEvent(event);
  }
  if (!outcome) throw new Error("The run ended without saying how");
  return { outcome, turns, durationMs: performance.now() - begin };
}

function toRunOutcome(
  { type: _type, seq: _seq, ...outcome }: AgentEndEvent & AgentEvent,
): RunOutcome {
  return outcome;
}
