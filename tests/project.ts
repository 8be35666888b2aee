/**
 * The project for tests of the project itself: its root, its public modules, and Deno with the selected package set.
 *
 * @module
 */

import { mergeReadableStreams } from "@std/streams/merge-readable-streams";
import { toText } from "@std/streams/to-text";
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
  /** Standard output and standard error, in the order of their arrival. */
  text: string;
}

/** Runs a subcommand of Deno in the root of the project, without standard input. */
export async function runDeno(
  subcommand: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<DenoResult> {
  const { config } = await choosePackages();
  const child = new Deno.Command(Deno.execPath(), {
    args: [subcommand, "-c", config, ...args],
    cwd: root,
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal: createDeadline(),
  }).spawn();
  const text = await toText(mergeReadableStreams(child.stdout, child.stderr));
  const { success } = await child.status;
  return { success, text };
}
