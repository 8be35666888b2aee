/**
 * Runs a command with a time limit.
 *
 * @module
 */

import { createDeferred } from "../../core/ports/deferred.ts";
import { MAX_TIMER_MS } from "../../core/ports/ports.ts";
import { OutputReading } from "../../platform/output_reading.ts";
import type { OpenCommandSandbox, RunningCommand } from "./command_sandbox.ts";

/** A command to run. */
export interface CommandRequest {
  /** The shell command. */
  readonly command: string;
  /** Directory in which it runs. */
  readonly directory: string;
  /** Time after which it is ended, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Opens what confines it. */
  readonly openSandbox: OpenCommandSandbox;
}

/** The end of a command. */
export interface CommandResult {
  /** How it ended. */
  readonly type: "exited" | "timed_out" | "cancelled";
  /** Exit code; `undefined` unless it exited. */
  readonly code: number | undefined;
  /** The end of its output. */
  readonly output: string;
}

/** Characters of the output that are kept: results and errors are at its end. */
const MAX_OUTPUT = 4_000;

/** Time from SIGTERM to SIGKILL. */
const KILL_GRACE_MS = 200;

/** Runs a command until it ends, its time is over or it is cancelled. Its process group has ended afterwards. */
export async function runCommand(request: CommandRequest): Promise<CommandResult> {
  const { command, directory, openSandbox } = request;
  await using sandbox = await openSandbox({ cwd: directory });
  const running = await sandbox.startCommand(command);
  const tail = new OutputTail(running.output);
  try {
    const end = await waitForEnd(running, request);
    await running.terminate(KILL_GRACE_MS);
    await running.finish?.();
    return { ...end, output: await tail.finish() };
  } finally {
    await running.terminate(KILL_GRACE_MS);
  }
}

type CommandEnd = Pick<CommandResult, "type" | "code">;

async function waitForEnd(
  { exited }: RunningCommand,
  { timeoutMs, signal }: CommandRequest,
): Promise<CommandEnd> {
  const { promise: stopped, resolve } = createDeferred<CommandEnd>();
  const cancel = () => resolve({ type: "cancelled", code: undefined });
  const stop = () => resolve({ type: "timed_out", code: undefined });
  const timer = setTimeout(stop, Math.min(timeoutMs, MAX_TIMER_MS));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    const ended = exited.then(({ code }): CommandEnd => ({ type: "exited", code }));
    return await Promise.race([ended, stopped]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}

/** Reads an output to its end, and keeps the last characters. */
class OutputTail {
  readonly #reading: OutputReading;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(output: ReadableStream<Uint8Array>) {
    this.#reading = new OutputReading(
      output,
      (chunk) => this.#append(this.#decoder.decode(chunk, { stream: true })),
    );
  }

  #append(text: string): void {
    const all = this.#text + text;
    // Twice the maximum, so that the text is copied once for every few chunks.
    this.#text = all.length > 2 * MAX_OUTPUT ? all.slice(-MAX_OUTPUT) : all;
  }

  /** Waits for the end of the output, and returns its last characters. */
  async finish(): Promise<string> {
    await this.#reading.drain().catch(() => {});
    this.#append(this.#decoder.decode());
    return this.#text.slice(-MAX_OUTPUT).toWellFormed();
  }
}
