/**
 * Runs the benchmarks, each in a process of its own; arguments after the configuration choose some by name.
 *
 * @module
 */

async function runBenchmarks([config = "deno.json", ...names]: string[]): Promise<number> {
  const files = [...Deno.readDirSync("bench")].map(({ name }) => name).toSorted();
  const chosen = files.filter((file) => file.endsWith("_bench.ts") && isChosen(file, names));
  let failed = 0;
  for (const file of chosen) {
    const args = ["run", "-A", "-c", config, `bench/${file}`];
    const { code } = await new Deno.Command(Deno.execPath(), { args }).spawn().status;
    if (code !== 0) failed = code;
  }
  return failed;
}

function isChosen(file: string, names: readonly string[]): boolean {
  return names.length === 0 || names.some((name) => file.startsWith(name));
}

if (import.meta.main) Deno.exit(await runBenchmarks(Deno.args));
