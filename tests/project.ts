/**
 * The project for tests of the project itself: its root, its public modules, and Deno with the selected package set.
 *
 * @module
 */

import { choosePackages } from "../scripts/packages.ts";
import { createDeadline } from "./deadline.ts";

/** Root directory of the project, with a `/` at its end. */
export const root = new URL("../", import.meta.url);

/** Reads the public modules by subpath: `{ "./testing": "./src/testing/mod.ts" }`. */
export async function readPublicModules(): Promise<Record<string, string>> {
  return JSON.parse(await Deno.readTextFile(new URL("deno.json", root))).exports;
}

/** Result of a command. */
export interface DenoResult {
  success: boolean;
  /** Standard output and standard error. */
  text: string;
}

/** Runs a subcommand of Deno in the root of the project, without standard input. */
export async function runDeno(
  subcommand: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<DenoResult> {
  const { config } = await choosePackages();
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [subcommand, "-c", config, ...args],
    cwd: root,
    env,
    stdin: "null",
    signal: createDeadline(),
  }).output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  return { success, text };
}
