/**
 * A run of one prompt, from the first event to the exit code.
 *
 * @module
 */

import type { Agent, AgentEvent, PromptInput, RunOutcome } from "../../mod.ts";
// Not mod.ts, which loads modules that the first request does not need.
import { AbortedError, BadRequestError } from "../../src/core/errors/errors.ts";
import type { AgentEndEvent } from "../../src/loop/mod.ts";
import type { DirectorySnapshot } from "../../src/patch/mod.ts";
import type { StartedHooks } from "../hooks/started_hooks.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import type { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { getProgramDirectories } from "../host/program_directories.ts";
import type { Reporter } from "../render/reporter.ts";
import { startPrompt, type StructuredAnswer } from "./prompt/prompt_events.ts";
import { DeferredReporter } from "./report/deferred_reporter.ts";
import type { PreparedAgent, PromptResult } from "./report/finish_run.ts";
import type { ProjectRunSettings } from "./settings/settings.ts";

/** Options for `runHeadless()`. */
export interface HeadlessRunOptions extends
  PreparedAgent,
  Pick<
    ProjectRunSettings,
    "cwd" | "net" | "sandbox" | "project" | "schema" | "debugFile" | "record"
  > {
  /** The prompt. */
  readonly prompt: PromptInput;
  /** The messages of the session that the model gets with the prompt. Default: none. */
  readonly waiting?: Agent["queued"];
  /** Creates the reporter that receives the events and the result. */
  readonly createReporter: () => Promise<Reporter>;
  /** Resolves when the first request has been sent. Default: the first event of the reply shows that. */
  readonly firstRequest?: Promise<void>;
  /** The hooks, whose failures are reported with the next event. Default: none. */
  readonly hooks?: Pick<StartedHooks, "takeWarnings">;
}

/** Runs a prompt and writes the patch, also when the run fails or is aborted. */
export async function runHeadless(run: HeadlessRunOptions): Promise<ExitCode> {
  const { patch, interrupt } = run;
  using snapshot = patch === undefined ? undefined : await takeSnapshot(run);
  if (interrupt.exitCode !== undefined) return interrupt.exitCode;
  await using reporter = new DeferredReporter(() => openReporter(run));
  const result = await promptAgent(run, reporter);
  const { finishRun } = await loadRunOutput();
  return await finishRun(run, { result, reporter: await reporter.open(), snapshot });
}

/** Loads what the first request does not need. */
function loadRunOutput(): Promise<typeof import("./report/run_output.ts")> {
  return importLate("./report/run_output.ts", import.meta.url);
}

/** Takes a snapshot of the working directory; `undefined` when the signal is aborted. */
async function takeSnapshot(
  { cwd, debugFile, record, host, interrupt: { signal } }: HeadlessRunOptions,
): Promise<DirectorySnapshot | undefined> {
  // The sessions may be in the working directory, as in a container.
  const state = getProgramDirectories(host.env)?.state;
  const excludedPaths = [debugFile, record, state].filter((path) => path !== undefined);
  const { DirectorySnapshot } = await importLate<typeof import("../../src/patch/mod.ts")>(
    "../../src/patch/mod.ts",
    import.meta.url,
  );
  try {
    return await DirectorySnapshot.take(cwd, { signal, excludedPaths });
  } catch (error) {
    if (error instanceof AbortedError) return undefined;
    if (!(error instanceof BadRequestError)) throw error;
    const advice = "Choose a smaller directory with --cwd, or omit --patch.";
    throw new ConfigurationError(error.message, advice);
  }
}

/** Creates the reporter and reports the start of the run. */
export async function openReporter(run: HeadlessRunOptions): Promise<Reporter> {
  // The process that finds out what confines commands starts while the modules are loaded.
  run.setup.describeSandbox().catch(() => {});
  const { reportStart } = await loadRunOutput();
  const reporter = await run.createReporter();
  try {
    await reportStart(reporter, run);
    return reporter;
  } catch (error) {
    reporter[Symbol.dispose]();
    throw error;
  }
}

/** Prompts the agent and reports every event. Aborts the run when the reader of the output closes it. */
export async function promptAgent(
  run: HeadlessRunOptions,
  reporter: DeferredReporter,
): Promise<PromptResult> {
  const { setup, firstRequest, interrupt, host, prompt, schema, hooks } = run;
  using watch = new OutputWatch(host);
  // A failure is reported with the next event.
  firstRequest?.then(() => reporter.open()).catch(() => {});
  // The first timer loads code of the runtime, which the first request does not wait for.
  if (firstRequest) void firstRequest.then(() => watch.start());
  else watch.start();
  const signal = AbortSignal.any([interrupt.signal, host.terminal.output.closed]);
  const startedAt = host.now();
  const counts: RunCounts = { runId: "", attempts: 1, turns: 0 };
  let outcome: RunOutcome | undefined;
  const started = startPrompt(setup.agent, prompt, { schema, signal });
  for await (const event of started.events) {
    countEvent(counts, event);
    if (event.type === "agent_end") outcome = toRunOutcome(event);
    // A model on this device gets no request.
    if (event.type === "message_update") watch.start();
    await reporter.onEvent(event);
    for (const warning of [...hooks?.takeWarnings() ?? [], ...setup.takeWarnings()]) {
      await reporter.onNotice(`warning: ${warning}`);
    }
  }
  const answer = await started.getAnswer();
  if (!outcome) throw new Error("The run ended without an agent_end event");
  return {
    ...addAnswer(outcome, answer),
    ...counts,
    durationMs: host.now() - startedAt,
  };
}

/** Watches whether the output of a run is still read, from its start until it is disposed. */
class OutputWatch implements Disposable {
  readonly #host: Pick<Host, "terminal">;
  readonly #watches = new DisposableStack();
  #isStarted = false;

  constructor(host: Pick<Host, "terminal">) {
    this.#host = host;
  }

  /** Starts to watch, unless that was done or the run has ended. */
  start(): void {
    if (this.#isStarted || this.#watches.disposed) return;
    this.#isStarted = true;
    this.#watches.use(this.#host.terminal.watchOutput());
  }

  /** Ends the watch. */
  [Symbol.dispose](): void {
    this.#watches[Symbol.dispose]();
  }
}

/** The id of a run, its turns so far, and the attempts of its last model call. */
type RunCounts = { -readonly [Name in "runId" | "turns" | "attempts"]: PromptResult[Name] };

/** Counts an event of a run. */
function countEvent(counts: RunCounts, event: AgentEvent): void {
  switch (event.type) {
    case "agent_start":
      counts.runId = event.runId;
      return;
    case "turn_start":
      counts.turns++;
      counts.attempts = 1;
      return;
    case "retry":
      counts.attempts++;
      return;
    default:
      return;
  }
}

/** Name of the policy that checks the answers of `structuredOutput()`. */
const ANSWER_POLICY = "structured_output";

/** Returns the outcome with the answer, or with the reason why there is none. */
function addAnswer(
  outcome: RunOutcome,
  answer: StructuredAnswer | undefined,
): Pick<PromptResult, "outcome" | "answer"> {
  const { stoppedBy, ...complete } = outcome;
  switch (answer?.type) {
    case undefined:
      return { outcome };
    case "value":
      return { outcome: complete, answer: { value: answer.value } };
    case "failed": {
      // The policy that checks the answer ends the run after the last attempt, which is no limit.
      const failed = stoppedBy?.policy === ANSWER_POLICY ? complete : outcome;
      return { outcome: failed.error ? failed : { ...failed, error: answer.error } };
    }
  }
}

function toRunOutcome(
  { type: _type, seq: _seq, ...outcome }: AgentEndEvent & AgentEvent,
): RunOutcome {
  return outcome;
}
