/**
 * Counts the lines of eight programs that are written with this library and with AI SDK 7: `deno task compare:code`.
 *
 * Imports, comments and blank lines do not count; the programs have the same format. Their types are checked with the
 * versions that they name, which are downloaded from npm once. They are not part of the other checks of the project, which
 * download no other libraries.
 *
 * @module
 */

import { choosePackages } from "../../scripts/packages.ts";

/** Files of the programs, without `.ts`, and what each does. */
const PROGRAMS: Readonly<Record<string, string>> = {
  weather: "an agent with two tools, streamed",
  chat_server: "a chat server: conversations that survive a restart, cancellation",
  extraction: "typed data from 200 documents, with a budget and a rate limit",
  coding_agent: "a coding agent whose changes are approved over HTTP",
  adapter: "a provider of one's own, a tool with a context, secrets removed from results",
  planner: "a planner with workers, and one limit for all of them",
  tests: "three tests: corrected arguments, a retry, an abort",
  telemetry: "spans, latency and cost of an agent",
};

const directory = new URL("./code/", import.meta.url);

/** Counts the lines of a program that are neither imports nor comments nor blank. */
export function countLines(source: string): number {
  const code = source.replaceAll(/^import [^;]*;$/gm, "").replaceAll(/\/\*[\s\S]*?\*\//g, "");
  return code.split("\n").filter((line) => !/^\s*(\/\/.*)?$/.test(line)).length;
}

/** Checks the types of the programs of a library in a directory without a configuration. */
async function checkTypes(library: string, options: readonly string[]): Promise<void> {
  const copy = await Deno.makeTempDir({ prefix: "swink_compare_" });
  try {
    const files = Object.keys(PROGRAMS).map((name) => `${name}.ts`);
    for (const file of files) {
      await Deno.copyFile(new URL(`${library}/${file}`, directory), `${copy}/${file}`);
    }
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--no-lock", ...options, ...files],
      cwd: copy,
    }).spawn().status;
    if (!success) throw new Error(`The programs in bench/compare/code/${library} have type errors`);
  } finally {
    await Deno.remove(copy, { recursive: true });
  }
}

/** Counts the lines of all programs; returns the rows of a table. */
export async function countPrograms(): Promise<string[][]> {
  const count = async (library: string, name: string) =>
    `${countLines(await Deno.readTextFile(new URL(`${library}/${name}.ts`, directory)))}`;
  return await Promise.all(
    Object.entries(PROGRAMS).map(async (
      [name, purpose],
    ) => [purpose, await count("swink", name), await count("ai_sdk", name)]),
  );
}

if (import.meta.main) {
  const { config } = await choosePackages();
  await checkTypes("swink", ["-c", config]);
  await checkTypes("ai_sdk", []);
  const rows = [["program", "`@swink/agent`", "AI SDK 7"], ["---", "---", "---"]];
  for (const row of [...rows, ...await countPrograms()]) console.log(`| ${row.join(" | ")} |`);
}
