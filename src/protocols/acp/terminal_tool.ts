/**
 * A tool that runs commands in terminals of the client.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import { getErrorMessage, NetworkError } from "../../core/errors/errors.ts";
import { type AgentToolResult, errorResult, textResult } from "../../core/messages/tool_result.ts";
import { realSleep, type Sleep } from "../../core/ports/ports.ts";
import { truncateMiddle } from "../../core/text/output_limit.ts";
import { type AgentTool, defineTool, type ToolContext } from "../../core/tools/tool.ts";
import type { AcpClient } from "./acp_host.ts";
import type { AcpTerminal, AcpTerminalExit } from "./acp_terminal.ts";

/** Options for {@linkcode terminalTool}. */
export interface TerminalToolOptions {
  /** Starts the commands: that of a client that offers terminals. */
  readonly createTerminal: NonNullable<AcpClient["createTerminal"]>;
  /** Absolute path of the working directory of every command. */
  readonly cwd: string;
  /** The shell, with the option before the command. Default: `["bash", "-c"]`. */
  readonly shell?: readonly [string, ...string[]] | undefined;
  /** Environment variables of commands, in addition to those of the client. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Name of the tool. Default: `"bash"`. */
  readonly name?: string | undefined;
  /** Waits for the timeout of a command. Default: based on `setTimeout`. */
  readonly sleep?: Sleep | undefined;
}

const OPTION_NAMES: Record<keyof TerminalToolOptions, true> = {
  createTerminal: true,
  cwd: true,
  shell: true,
  env: true,
  name: true,
  sleep: true,
};

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 1_800_000;

/** Maximum time for the answer to a request that takes no time. */
const ANSWER_MS = 10_000;

const PARAMETERS = {
  type: "object",
  properties: {
    command: { type: "string", minLength: 1, description: "The command" },
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

/**
 * Creates a tool that runs commands in terminals of the client, where the user sees their output and can stop them. The
 * client runs them with its own rights: no sandbox confines them.
 *
 * @throws {BadRequestError} If an option is unknown.
 */
export function terminalTool(options: TerminalToolOptions): AgentTool {
  checkObject(options, "Pass options of terminalTool() such as { createTerminal, cwd }");
  checkNames(options, Object.keys(OPTION_NAMES), "terminalTool()");
  return defineTool({
    name: options.name ?? "bash",
    label: "Run command",
    description:
      "Runs a bash command in a terminal of the editor and returns its exit code and output. There is no standard input: " +
      "use flags instead of prompts. Every command starts in the working directory of the project.",
    parameters: PARAMETERS,
    risk: "execute",
    // A command may read what the calls before it write, and write what those after it read.
    sequential: true,
    execute: async ({ command, timeout_ms = DEFAULT_TIMEOUT_MS }, context) => {
      try {
        return await run(options, { command, timeoutMs: timeout_ms, context });
      } catch (error) {
        return errorResult(`The terminal failed: ${getErrorMessage(error)}`);
      }
    },
  });
}

interface CommandRun {
  readonly command: string;
  readonly timeoutMs: number;
  readonly context: Pick<ToolContext, "signal" | "onUpdate">;
}

async function run(options: TerminalToolOptions, commandRun: CommandRun): Promise<AgentToolResult> {
  const { sleep = realSleep } = options;
  const { timeoutMs, context: { signal, onUpdate } } = commandRun;
  const terminal = await start(options, commandRun);
  try {
    const details = { terminalId: terminal.id };
    // The client shows the output by itself.
    onUpdate({ content: [], details });
    const end = await untilEnd(terminal, { timeoutMs, signal, sleep });
    if (end.type !== "exited") await untilAnswer(terminal.kill(), sleep);
    const { output, truncated } = await untilAnswer(terminal.output(), sleep);
    const text = [
      formatEnd(end, timeoutMs),
      ...(truncated ? ["[The beginning of the output is missing]"] : []),
      truncateMiddle(output.trimEnd()).text,
    ].filter((part) => part !== "").join("\n");
    return { ...textResult(text, details), ...(end.type !== "exited" && { isError: true }) };
  } finally {
    await release(terminal, sleep);
  }
}

/** Starts a command; rejects if the client does not answer in time, and removes the terminal that it starts later. */
async function start(
  { createTerminal, cwd, env, shell = ["bash", "-c"], sleep = realSleep }: TerminalToolOptions,
  { command, timeoutMs }: CommandRun,
): Promise<AcpTerminal> {
  const [program, ...args] = shell;
  const started = createTerminal({ command: program, args: [...args, command], cwd, env });
  try {
    return await untilAnswer(started, sleep, timeoutMs);
  } catch (error) {
    started.then((terminal) => release(terminal, sleep)).catch(() => {});
    throw error;
  }
}

/** Removes a terminal; a client that is gone has none. */
async function release(terminal: AcpTerminal, sleep: Sleep): Promise<void> {
  try {
    await untilAnswer(terminal[Symbol.asyncDispose](), sleep);
  } catch {
    // Nothing is left to remove.
  }
}

/** Waits for an answer; rejects if there is none in time. */
async function untilAnswer<Value>(
  answer: PromiseLike<Value>,
  sleep: Sleep,
  milliseconds = ANSWER_MS,
): Promise<Value> {
  const wait = new AbortController();
  const timeout = sleep(milliseconds, wait.signal).then((): never => {
    throw new NetworkError("The client did not answer");
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    wait.abort();
  }
}

type CommandEnd =
  | { readonly type: "exited"; readonly exit: AcpTerminalExit }
  | { readonly type: "timed_out" }
  | { readonly type: "cancelled" };

interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly sleep: Sleep;
}

async function untilEnd(
  terminal: AcpTerminal,
  { timeoutMs, signal, sleep }: WaitOptions,
): Promise<CommandEnd> {
  if (signal.aborted) return { type: "cancelled" };
  const waits = new AbortController();
  const stop = AbortSignal.any([signal, waits.signal]);
  try {
    return await Promise.race([
      terminal.waitForExit(stop).then((exit) => ({ type: "exited", exit }) as const),
      sleep(timeoutMs, stop).then(() => ({ type: "timed_out" }) as const),
    ]).then((end) => signal.aborted ? { type: "cancelled" } : end);
  } catch (error) {
    if (signal.aborted) return { type: "cancelled" };
    throw error;
  } finally {
    waits.abort();
  }
}

function formatEnd(end: CommandEnd, timeoutMs: number): string {
  switch (end.type) {
    case "exited": {
      const { exitCode, signal } = end.exit;
      return signal
        ? `Exit code: ${exitCode ?? "none"} (ended by ${signal})`
        : `Exit code: ${exitCode ?? "unknown"}`;
    }
    case "timed_out":
      return `Exit code: 124 (timed out after ${timeoutMs} ms; the command was ended)`;
    case "cancelled":
      return "The command was cancelled and ended";
  }
}
