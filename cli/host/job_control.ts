/**
 * Suspension of the program by the shell.
 *
 * @module
 */

import { findTrustedProgram } from "../../src/platform/trusted_path.ts";

/**
 * Whether a shell with job control has started the program, and can continue it. A program that a terminal has started
 * as its first one could not be continued.
 */
export async function hasJobControl(): Promise<boolean> {
  if (Deno.build.os === "windows") return false;
  if (Deno.build.os !== "linux") return true;
  const ids = await readGroupAndSession().catch(() => undefined);
  // A shell puts each of its jobs into a process group of its own.
  return ids === undefined || ids[0] !== ids[1];
}

async function readGroupAndSession(): Promise<readonly [group: string, session: string]> {
  try {
    // The name of the program is in parentheses, and can contain any character.
    const stat = await Deno.readTextFile("/proc/self/stat");
    const [, , group = "", session = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return [group, session];
  } catch (error) {
    // The permission to read files does not include this one.
    if (!(error instanceof Deno.errors.NotCapable)) throw error;
  }
  const args = ["-o", "pgid=,sid=", "-p", `${Deno.pid}`];
  // A command could have made a program with this name in a directory of the project that is in PATH.
  const ps = findTrustedProgram("ps", Deno.env.get("PATH") ?? "") ?? "/usr/bin/ps";
  const { stdout } = await new Deno.Command(ps, { args, stdin: "null", stderr: "null" }).output();
  const [group = "", session = "another"] = new TextDecoder().decode(stdout).trim().split(/\s+/);
  return [group, session];
}
