/**
 * The project as its own tests see it from outside: its root, its public modules, and Deno on the packages in use.
 *
 * @module
 */

import { choosePackages } from "../scripts/packages.ts";

/** The root of the project. */
export const root = new URL("../", import.meta.url);

/** The public modules, by the names they are imported by: `{ "./testing": "./src/testing/mod.ts" }`. */
export async function readPublicModules(): Promise<Record<string, string>> {
  return JSON.parse(await Deno.readTextFile(new URL("deno.json", root))).exports;
}

/** What a command said. */
export interface DenoResult {
  success: boolean;
  /** Standard output and standard error. */
  text: string;
}

/** Runs a sub-command of Deno in the project's root. */
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
  }).output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  return { success, text };
}
