/**
 * The operations on processes over `node:child_process` and `process`.
 *
 * @module
 */

import { BadRequestError } from "../core/errors/errors.ts";
import { getNodeProcess, type NodeProcess } from "./builtin_modules.ts";
import { getNodeBuild } from "./node_build.ts";
import { NodeCommand } from "./node_command.ts";
import type { ProcessCalls } from "./process_calls.ts";
import { getSystemErrorCode } from "./system_error.ts";

/** Creates the operations on processes, for Node and Bun. */
export function createNodeProcesses(): ProcessCalls {
  return {
    build: getNodeBuild(),
    pid: getNodeProcess()?.pid ?? 0,
    env: { get: (name) => getNodeProcess()?.env[name] },
    cwd: () => getProcess().cwd(),
    execPath: () => getProcess().execPath,
    uid: () => getProcess().getuid?.() ?? null,
    kill: (pid, signal) => getProcess().kill(pid, signal),
    unrefTimer: (timer) => void timer.unref(),
    Command: NodeCommand,
  };
}

/** Whether a process with this id exists. */
export function isProcessRunning(pid: number): boolean {
  try {
    getProcess().kill(pid, 0);
    return true;
  } catch (error) {
    return getSystemErrorCode(error) === "EPERM"; // it belongs to another user
  }
}

/** Start of this process. Calculated once: while a computer is suspended, the clock continues and the running time does not. */
let processStart: number | undefined;

/** Returns the start of this process, in milliseconds since the epoch. */
export function getProcessStart(): number {
  processStart ??= Math.round(Date.now() - 1_000 * getProcess().uptime());
  return processStart;
}

function getProcess(): NodeProcess {
  const process = getNodeProcess();
  if (process) return process;
  throw new BadRequestError(
    "This runtime has no processes: use Deno 2.8, Node 20.16 or later, or Bun",
  );
}
