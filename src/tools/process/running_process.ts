/**
 * Processes in groups of their own, so that a process ends together with its children.
 *
 * @module
 */

import { system } from "../../platform/system.ts";
import { createDeferred } from "../../core/deferred.ts";

/** A program to start. */
export interface Launch {
  /** Path of the program, or a name that is looked up in `PATH`. */
  readonly program: string;
  /** Arguments of the program. */
  readonly args: readonly string[];
  /** Working directory. */
  readonly cwd: string;
  /** Complete environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Standard input. Default: empty. */
  readonly input?: string;
}

/** Exit status of a process. */
export interface ProcessExit {
  /** Exit code; 128 plus the signal number if a signal ended the process. */
  readonly code: number;
  /** Signal that ended the process, such as `SIGKILL`; `null` if it exited. */
  readonly signal: string | null;
}

/** A started process. */
export interface RunningProcess {
  /** Id of the process and of its group. */
  readonly pid: number;
  /** Standard output. */
  readonly output: ReadableStream<Uint8Array>;
  /** Resolves when the process itself has ended; its children may still run. */
  readonly exited: Promise<ProcessExit>;
  /** Ends the process group: SIGTERM, then SIGKILL after `graceMs` milliseconds. */
  terminate(graceMs: number): Promise<void>;
}

/** Starts a process in its own session, without a terminal and without the environment of this program. */
export function startProcess(launch: Launch): RunningProcess {
  const { program, args, cwd, env, input } = launch;
  const child = new system.Command(program, {
    args: [...args],
    cwd,
    env: { ...env },
    clearEnv: true,
    detached: true,
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    // A shell command redirects its errors to its output (see shell_command.ts).
    stderr: "null",
  }).spawn();
  if (input !== undefined) void writeInput(child.stdin, input);
  const exited = child.status.then(({ code, signal }) => ({ code, signal }));
  return {
    pid: child.pid,
    output: child.stdout,
    exited,
    terminate: (graceMs) => terminateGroup(child.pid, exited, graceMs),
  };
}

async function writeInput(stdin: WritableStream<Uint8Array>, input: string): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
  } catch {
    // The process ended without reading all of its input.
  }
}

/** Time between SIGTERM and SIGKILL for children whose parent has ended. */
const ORPHAN_GRACE_MS = 20;

async function terminateGroup(
  pid: number,
  exited: Promise<ProcessExit>,
  graceMs: number,
): Promise<void> {
  if (!signalGroup(pid, "SIGTERM")) return;
  const leaderEnded = await settlesWithin(graceMs, exited);
  if (leaderEnded) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(ORPHAN_GRACE_MS, graceMs)));
  }
  signalGroup(pid, "SIGKILL");
  await exited;
}

/** Sends a signal to a process group; returns whether it still exists. */
function signalGroup(pid: number, signal: "SIGTERM" | "SIGKILL"): boolean {
  try {
    system.kill(system.build.os === "windows" ? pid : -pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether a promise resolves within a time; rejects if it rejects. */
export async function settlesWithin(
  milliseconds: number,
  promise: Promise<unknown>,
): Promise<boolean> {
  const { promise: timeout, resolve } = createDeferred<false>();
  const timer = setTimeout(resolve, milliseconds, false);
  try {
    return await Promise.race([promise.then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
