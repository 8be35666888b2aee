/**
 * The tool that runs shell commands.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import { type AgentTool, type AgentToolResult, defineTool, textResult } from "../../core/tool.ts";
import type { BackgroundJobs } from "./background_jobs.ts";
import { CommandOutput } from "./command_output.ts";
import { describeJob } from "./job_tools.ts";
import { toPlainOutput } from "../text/plain_output.ts";
import { catchAsErrorResult, type ToolKit } from "../kit/tool_kit.ts";
import { type ProcessOutcome, watchProcess } from "../process/watch_process.ts";

/** How long a command may take unless the model says otherwise. */
const DEFAULT_TIMEOUT_MS = 120_000;

/** The longest time that a model may ask for. */
const MAX_TIMEOUT_MS = 1_800_000;

/** Longer commands do not fit into one argument of a program. */
const MAX_COMMAND_BYTES = 100_000;

/** What a person sees live is a glance; all of it is in the result. */
const MAX_UPDATE_CHARACTERS = 8_000;

/** What a job says in its first moments is told with its start. */
const START_POLL_MS = 250;

/** Makes `bash`; with jobs, it can also start commands that go on running. */
export function bashTool(kit: ToolKit, jobs?: BackgroundJobs): AgentTool {
  const shell = new ShellState(kit.sandbox.root);
  return defineTool({
    name: "bash",
    label: "Run command",
    description:
      "Runs a bash command and tells its exit code and output (stdout and stderr together). The working directory " +
      "is kept between calls. There is no input and no terminal: use flags instead of prompts. Processes left " +
      "running are ended with the command. A sandbox may keep commands from the network and from writing outside.",
    parameters: jobs ? PARAMETERS_WITH_JOBS : PARAMETERS,
    concurrencyKey: () => "bash",
    execute: catchAsErrorResult(
      async ({ command, timeout_ms = DEFAULT_TIMEOUT_MS, background }: BashArguments, context) => {
        const { signal, onUpdate, toolCallId } = context;
        validateCommand(command);
        const notes = await shell.ensureDirectory();
        if (jobs && background) {
          return await startJob(jobs, command, { cwd: shell.directory, signal });
        }
        const started = await kit.sandbox.startCommand(command, { cwd: shell.directory });
        await using output = new CommandOutput(() =>
          kit.sandbox.getOutputPath(createFileName(toolCallId))
        );
        const outcome = await watchProcess(started, {
          signal,
          timeoutMs: timeout_ms,
          onOutput: async (chunk) => {
            const text = await output.push(chunk);
            if (text !== "") onUpdate(toPlainOutput(text.slice(-MAX_UPDATE_CHARACTERS)));
          },
        });
        const { workingDirectory } = await started.finish();
        const { text, file } = await output.finish();
        notes.push(...shell.changeDirectory(workingDirectory, kit));
        notes.push(...await getSandboxNotes(kit, outcome, text));
        const isError = outcome.type !== "exited";
        const body = [formatOutcome(outcome, timeout_ms), text.trimEnd(), ...notes]
          .filter((part) => part !== "").join("\n");
        const details = { outcome, ...(file !== undefined && { outputFile: file }) };
        return { ...textResult(body, details), ...(isError && { isError }) };
      },
    ),
  });
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
      description: `Longest time in milliseconds. Default: ${DEFAULT_TIMEOUT_MS}`,
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
      description: "Go on running as a job, for servers and watchers; see job_output and job_stop",
    },
  },
} as const;

async function startJob(
  jobs: BackgroundJobs,
  command: string,
  { cwd, signal }: { readonly cwd: string; readonly signal: AbortSignal },
): Promise<AgentToolResult> {
  const id = await jobs.start(command, cwd);
  const look = await jobs.pollAfterStart(id, { waitMs: START_POLL_MS, signal });
  return textResult(describeJob(id, look), { jobId: id });
}

/** Words of programs that ran into the sandbox, or into something like it. */
const SANDBOX_ERRORS =
  /operation not permitted|permission denied|read-only file system|could not resolve|name resolution|network is unreachable|\b(?:EACCES|EPERM|ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b/i;

/** A model that knows what it ran into does not try it five other ways. */
async function getSandboxNotes(
  kit: ToolKit,
  outcome: ProcessOutcome,
  text: string,
): Promise<string[]> {
  const hasFailed = outcome.type === "exited" && outcome.exit.code !== 0;
  if (!hasFailed || !SANDBOX_ERRORS.test(text)) return [];
  const { rules } = await kit.sandbox.describe();
  if (!rules.some(({ enforcedBy }) => enforcedBy === "kernel")) return [];
  const { net } = kit.sandbox;
  const network = typeof net === "string" ? net : `only to ${net.join(", ")}`;
  return [`[Sandbox: writes only in the working directory and $TMPDIR; network ${network}]`];
}

/** The folder in which the next command starts. */
class ShellState {
  readonly #root: string;
  directory: string;

  constructor(root: string) {
    this.#root = root;
    this.directory = root;
  }

  /** A folder that is gone is left for the root. */
  async ensureDirectory(): Promise<string[]> {
    const there = await Deno.stat(this.directory).then((found) => found.isDirectory, () => false);
    if (there) return [];
    const gone = this.directory;
    this.directory = this.#root;
    return [`[${gone} is gone; the command ran in ${this.#root}]`];
  }

  changeDirectory(folder: string | undefined, kit: ToolKit): string[] {
    if (folder === undefined || folder === this.directory) return [];
    this.directory = folder;
    return [`[Working directory: ${kit.sandbox.files.toDisplayPath(folder)}]`];
  }
}

function validateCommand(command: string): void {
  if (command.trim() === "") throw new BadRequestError("The command is empty");
  if (command.includes("\0")) {
    throw new BadRequestError("The command contains a NUL character, which no command can");
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
      return `Exit code: 124 (timed out after ${timeoutMs} ms; the command and all it started were ended)`;
    case "cancelled":
      return "The command was cancelled; it and all it started were ended";
  }
}

function createFileName(toolCallId: string): string {
  return `bash-${toolCallId.replace(/[^\w-]/g, "_").slice(0, 80)}.txt`;
}
