/**
 * A search for processes by another program, for a runtime that does not let this one read `/proc`.
 *
 * @module
 */

import { system } from "../../platform/system.ts";
import { findTrustedProgram, getTrustedPath } from "../../platform/trusted_path.ts";
import { readEnvironmentVariable } from "./command_environment.ts";

/** Prints the paths of the environments that have a variable, its first argument. */
const SCRIPT = 'exec grep -lzxsF -e "$1" /proc/[0-9]*/environ';

/**
 * Returns the ids of the processes whose environment has a variable, written as `NAME=value`; none if the program may not
 * start others, or the system has no `grep`.
 */
export async function searchMarkedProcesses(variable: string): Promise<number[]> {
  const path = readEnvironmentVariable("PATH") ?? "/usr/bin:/bin";
  try {
    const shell = findTrustedProgram("sh", path);
    if (shell === undefined) return [];
    const { stdout, status } = new system.Command(shell, {
      args: ["-c", SCRIPT, "sh", variable],
      cwd: "/",
      env: { PATH: getTrustedPath(path, []), LC_ALL: "C" },
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const [output] = await Promise.all([new Response(stdout).text(), status]);
    const ids = output.split("\n").map((line) => Number(/^\/proc\/(\d+)\//.exec(line)?.[1]));
    return ids.filter((pid) => pid > 1);
  } catch {
    return [];
  }
}
