/**
 * The `bash` tool.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type { RunHandle } from "../../core/events/run_handle.ts";
import { type AgentToolResult, textResult } from "../../core/messages/tool_result.ts";
import { type AgentTool, defineTool, type ToolContext } from "../../core/tools/tool.ts";
import { catchAsErrorResult, type ToolKit } from "../kit/tool_kit.ts";
import { markHidingSecrets, markShells } from "../kit/tool_marks.ts";
import { type ProcessOutcome, watchProcess } from "../process/watch_process.ts";
import type { FinishedCommand, SandboxCommand } from "../sandbox/sandbox.ts";
import { toPlainOutput } from "../text/plain_output.ts";
import type { BackgroundJobs } from "./background_jobs.ts";
import { CommandOutput } from "./command_output.ts";
import { formatHiddenFiles } from "./hidden_files.ts";
import { describeJob } from "./job_tools.ts";
import { formatRestoredFiles } from "./restored_files.ts";
import { FixedShells, ShellStates } from "./shell_states.ts";

/** Default timeout of a command. */
const DEFAULT_TIMEOUT_MS = 120_000;

/** Maximum timeout that the model may set. */
const MAX_TIMEOUT_MS = 1_800_000;

/** Maximum length of a command: a process argument must be shorter than 128 KiB. */
const MAX_COMMAND_BYTES = 100_000;

/** Maximum length of one update while the command runs. */
const MAX_UPDATE_CHARACTERS = 8_000;

/** Wait after the start of a job, so that the result includes its first output. */
const START_POLL_MS = 250;

/** Creates `bash`; with `jobs`, it can also start background jobs. */
export function bashTool(kit: ToolKit, jobs?: BackgroundJobs): AgentTool {
  const shells = new ShellStates(kit.sandbox.root);
  const { readOnly = false, hidesSecrets = false } = kit.sandbox;
  const tool = defineTool({
    name: "bash",
    label: "Run command",
    description: createDescription(readOnly),
    readOnly,
    parameters: jobs ? PARAMETERS_WITH_JOBS : PARAMETERS,
    // The first command loads the parser of commands.
    risk: async ({ command }) => {
      const { getCommandRisk } = await import("../approval/command_risk.ts");
      return getCommandRisk(command);
    },
    // A command may read what the calls before it write, and write what those after it read.
    sequential: !readOnly,
    concurrencyKey: () => "bash",
    execute: catchAsErrorResult((args: BashArguments, context) =>
      callBash(args, context, { kit, shells, jobs })
    ),
  });
  markShells(tool, readOnly ? new FixedShells(kit.sandbox.root) : shells);
  return hidesSecrets ? markHidingSecrets(tool) : tool;
}

function createDescription(readOnly: boolean): string {
  const base =
    "Runs a bash command and returns its exit code and output (stdout and stderr interleaved). " +
    "There is no standard input and no terminal: use flags instead of prompts. Processes still running at the end of " +
    "the command are ended. ";
  return readOnly
    ? `${base}Every command starts in the working directory of the project. A sandbox blocks all writes, also of ` +
      "temporary files, and the network, and hides files that usually hold secrets: use it to read and to search."
    : `${base}The working directory is kept between calls. A sandbox may block the network, and writes outside of ` +
      "it.";
}

/** The parts of a `bash` tool. */
interface BashParts {
  readonly kit: ToolKit;
  readonly shells: ShellStates;
  readonly jobs: BackgroundJobs | undefined;
}

/** Runs the command of a call, or starts its job. */
async function callBash(
  { command, timeout_ms: timeoutMs = DEFAULT_TIMEOUT_MS, background }: BashArguments,
  context: ToolContext,
  { kit, shells, jobs }: BashParts,
): Promise<AgentToolResult> {
  const { run, signal, toolCallId } = context;
  const shell = shells.start(run, command);
  validateCommand(command);
  const directoryNotices = await shell.ensureDirectory();
  if (jobs && background) return await startJob(jobs, command, { cwd: shell.directory, signal });
  await using output = new CommandOutput(() =>
    kit.sandbox.getOutputPath(`bash-${toFileName(run, toolCallId)}.txt`)
  );
  const ended = await trackChanges(
    kit,
    signal,
    () => runCommand(command, { cwd: shell.directory, timeoutMs, output, kit, context }),
  );
  const { outcome, hidden, workingDirectory, restoredFiles = [] } = ended;
  const { text, file } = await output.finish();
  const notices = [
    ...directoryNotices,
    ...shell.changeDirectory(workingDirectory, kit),
    ...formatRestoredFiles(restoredFiles, kit.sandbox.files),
    ...await getSandboxNotices(kit, outcome, text),
    ...formatHiddenFiles(hidden, { command, output: text, files: kit.sandbox.files }),
  ];
  const body = [formatOutcome(outcome, timeoutMs), text.trimEnd(), ...notices]
    .filter((part) => part !== "").join("\n");
  const details = { outcome, ...(file !== undefined && { outputFile: file }) };
  return { ...textResult(body, details), ...(outcome.type !== "exited" && { isError: true }) };
}

interface RunCommandOptions {
  readonly cwd: string;
  readonly timeoutMs: number;
  /** Receives the output. */
  readonly output: CommandOutput;
  readonly kit: ToolKit;
  readonly context: Pick<ToolContext, "signal" | "onUpdate">;
}

/** How a command ended, and what it left. */
interface EndedCommand extends FinishedCommand {
  readonly outcome: ProcessOutcome;
  /** The files that it could not read. */
  readonly hidden: SandboxCommand["hidden"] | undefined;
}

/** Runs a command in the sandbox until it ends, and reports its output as it is written. */
async function runCommand(
  command: string,
  { cwd, timeoutMs, output, kit, context: { signal, onUpdate } }: RunCommandOptions,
): Promise<EndedCommand> {
  const started = await kit.sandbox.startCommand(command, { cwd, signal });
  const outcome = await watchProcess(started, {
    signal,
    timeoutMs,
    onOutput: async (chunk) => {
      const text = await output.push(chunk);
      if (text !== "") onUpdate(toPlainOutput(text.slice(-MAX_UPDATE_CHARACTERS)));
    },
  });
  return { outcome, hidden: started.hidden, ...await started.finish() };
}

/** Returns a name for the output of a call. The calls of two agents may have the same id. */
function toFileName({ depth, runId }: RunHandle, toolCallId: string): string {
  const id = depth === 0 ? toolCallId : `${runId}-${toolCallId}`;
  return id.replace(/[^\w-]/g, "_").slice(0, 80);
}

/** Runs a command and records its file changes, if there is a change log. */
function trackChanges<T>(kit: ToolKit, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  return kit.commandChanges ? kit.commandChanges.track(run, signal) : run();
}

interface BashArguments {
  readonly command: string;
  readonly timeout_ms?: number | undefined;
  readonly background?: boolean | undefined;
}

const PARAMETERS = {
  type: "object",
  properties: {
    command: { type: "string", description: "The command" },
    timeout_ms: {
      type: "integer",
      minimum: 1,
      maximum: MAX_TIMEOUT_MS,
      description: `Timeout in milliseconds. Default: ${DEFAULT_TIMEOUT_MS}`,
    },
  },
  required: ["command"],
  additionalProperties: false,
} as const;

const PARAMETERS_WITH_JOBS = {
  ...PARAMETERS,
  properties: {
    ...PARAMETERS.properties,
    background: {
      type: "boolean",
      description: "Run as a background job, for servers and watchers; see job_output and job_stop",
    },
  },
} as const;

async function startJob(
  jobs: BackgroundJobs,
  command: string,
  { cwd, signal }: { readonly cwd: string; readonly signal: AbortSignal },
): Promise<AgentToolResult> {
  const id = await jobs.start(command, cwd);
  const job = await jobs.pollAfterStart(id, { waitMs: START_POLL_MS, signal });
  return textResult(describeJob(id, job), { jobId: id });
}

/** Matches error messages that the sandbox may have caused. */
const SANDBOX_ERRORS =
  /operation not permitted|permission denied|read-only file system|resource busy|could not resolve|name resolution|network is unreachable|\b(?:EACCES|EPERM|ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b/i;

/** Reports the limits of the sandbox after a failure they may have caused, so that the model does not retry. */
async function getSandboxNotices(
  kit: ToolKit,
  outcome: ProcessOutcome,
  text: string,
): Promise<string[]> {
  const hasFailed = outcome.type === "exited" && outcome.exit.code !== 0;
  if (!hasFailed || !SANDBOX_ERRORS.test(text)) return [];
  const { rules } = await kit.sandbox.describe();
  if (!rules.some(({ enforcedBy }) => enforcedBy === "kernel")) return [];
  const { net, readOnly } = kit.sandbox;
  if (readOnly) return ["[Sandbox: commands write nothing and have no network]"];
  const network = typeof net === "string" ? net : `only to ${net.join(", ")}`;
  return [
    `[Sandbox: writes only in the working directory and $TMPDIR, not to hooks and configuration of git; network ${network}]`,
  ];
}

function validateCommand(command: string): void {
  if (command.trim() === "") throw new BadRequestError("The command is empty");
  if (command.includes("\0")) {
    throw new BadRequestError("The command contains a NUL character");
  }
  if (new TextEncoder().encode(command).length > MAX_COMMAND_BYTES) {
    throw new BadRequestError(
      `The command is longer than ${MAX_COMMAND_BYTES} bytes: write it to a file with write_file and run that`,
    );
  }
}

function formatOutcome(outcome: ProcessOutcome, timeoutMs: number): string {
  switch (outcome.type) {
    case "exited": {
      const { code, signal } = outcome.exit;
      return signal === null ? `Exit code: ${code}` : `Exit code: ${code} (ended by ${signal})`;
    }
    case "timed_out":
      return `Exit code: 124 (timed out after ${timeoutMs} ms; the command and its child processes were killed)`;
    case "cancelled":
      return "The command was cancelled; it and its child processes were killed";
  }
}
