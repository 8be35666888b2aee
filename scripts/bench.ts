/**
 * Runs the benchmarks, each in its own process.
 *
 * The arguments are the configuration file and, to run only some, the beginnings of their file names.
 *
 * @module
 */

import { addLlama } from "./llama_config.ts";

async function runBenchmarks([config = "deno.json", ...names]: string[]): Promise<number> {
  const files = [...Deno.readDirSync("bench")].map(({ name }) => name).toSorted();
  const selected = files.filter((file) => file.endsWith("_bench.ts") && isSelected(file, names));
  let exitCode = 0;
  for (const file of selected) {
    const own = file.startsWith("local") ? await addLlama(config) : config;
    const args = ["run", "-A", "-c", own, `bench/${file}`];
    const { code } = await new Deno.Command(Deno.execPath(), { args }).spawn().status;
    if (code !== 0) exitCode = code;
  }
  return exitCode;
}

function isSelected(file: string, names: readonly string[]): boolean {
  return names.length === 0 || names.some((name) => file.startsWith(name));
}

if (import.meta.main) Deno.exit(await runBenchmarks(Deno.args));
