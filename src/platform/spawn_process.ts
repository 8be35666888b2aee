/**
 * Programs whose standard streams are piped to this process.
 *
 * @module
 */

import type { ProcessLaunch, SpawnedProcess } from "../core/ports/process_spawner.ts";
import type { SystemProcess } from "./process_calls.ts";
import { terminateGroup } from "./process_group.ts";
import { noteStartedProgram } from "./started_programs.ts";
import { system } from "./system.ts";
import { getSystemErrorCode } from "./system_error.ts";

/** A program to start, with a working directory. */
export interface PipedLaunch extends ProcessLaunch {
  readonly cwd: string;
  /** Bytes to write to the standard input first. Default: none. */
  readonly preamble?: Uint8Array<ArrayBuffer>;
}

/**
 * Starts a program in its own session and process group, not confined and with no environment but the given one.
 *
 * @throws {Error} If the program, or the directory, does not exist, with a message that names both.
 */
export async function spawnProcess(launch: PipedLaunch): Promise<SpawnedProcess> {
  const { preamble } = launch;
  const child = start(launch);
  const exited = child.status.then(({ code, signal }) => ({ code, signal }));
  if (preamble) await writePreamble(child.stdin, preamble);
  const { pid, stdin, stdout, stderr } = child;
  const terminate = (graceMs: number) => terminateGroup(pid, exited, graceMs);
  return { stdin, stdout, stderr, exited, terminate };
}

function start({ program, args, cwd, env }: PipedLaunch): SystemProcess {
  noteStartedProgram();
  try {
    return new system.Command(program, {
      args: [...args],
      cwd,
      env: { ...env },
      clearEnv: true,
      detached: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (cause) {
    if (getSystemErrorCode(cause) !== "ENOENT") throw cause;
    const message = `The program ${program} or the directory ${cwd} does not exist`;
    throw Object.assign(new Error(message, { cause }), { code: "ENOENT" });
  }
}

async function writePreamble(
  stdin: WritableStream<Uint8Array<ArrayBuffer>>,
  preamble: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(preamble);
  } catch {
    // The process ended without reading it; its exit code states that.
  } finally {
    writer.releaseLock();
  }
}
