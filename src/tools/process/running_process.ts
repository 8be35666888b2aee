/**
 * Processes in groups of their own, so that a process ends together with its children.
 *
 * @module
 */

import { terminateGroup } from "../../platform/process_group.ts";
import { noteStartedProgram } from "../../platform/started_programs.ts";
import { system } from "../../platform/system.ts";

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
  /** Standard input: a text, or a stream that can continue while the program runs. Default: empty. */
  readonly input?: string | ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Whether the program may change files. Default: `true`. */
  readonly changesFiles?: boolean;
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
  const { program, args, cwd, env, input, changesFiles = true } = launch;
  if (changesFiles) noteStartedProgram();
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

async function writeInput(
  stdin: WritableStream<Uint8Array>,
  input: string | ReadableStream<Uint8Array>,
): Promise<void> {
  try {
    if (typeof input !== "string") return await input.pipeTo(stdin);
    const writer = stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
  } catch {
    // The process ended without reading all of its input.
  }
}
