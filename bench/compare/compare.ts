/**
 * Compares the library with others: `deno task compare` prints the table of the README.
 *
 * The model of each library is a generator in the same process, so that only the library is measured. Times are those of
 * the processor, except for the end after an abort. Each figure is the smallest of several new processes, since other
 * programs on the machine only add to it. Arguments select libraries by the beginning of their names.
 *
 * @module
 */

import { choosePackages } from "../../scripts/packages.ts";
import type { Contender } from "./contender.ts";
import { CONTENDERS } from "./run_metric.ts";

const RUNS = 3;

const { config } = await choosePackages();

interface Output {
  readonly success: boolean;
  readonly text: string;
}

async function runDeno(args: readonly string[]): Promise<Output> {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    stdin: "null",
    stderr: "null",
  }).output();
  return { success, text: new TextDecoder().decode(stdout) };
}

/** Milliseconds of processor time that a program takes which only imports, without type checking. */
async function measureImport(source: string): Promise<number> {
  const program = await Deno.makeTempFile({ suffix: ".ts" });
  const report =
    'import process from "node:process";\nconst { user, system } = process.cpuUsage();\n' +
    "console.log((user + system) / 1_000);\n";
  await Deno.writeTextFile(program, source + report);
  const times: number[] = [];
  for (let run = 0; run <= RUNS; run++) {
    times.push(Number((await runDeno(["run", "-A", "--no-lock", "-c", config, program])).text));
  }
  await Deno.remove(program);
  return Math.min(...times.slice(1)); // The first one fills the cache.
}

/** Whether the imports run without any permission of Deno. */
async function importsWithoutPermission(source: string): Promise<boolean> {
  const program = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(program, source);
  const { success } = await runDeno(["run", "--no-prompt", "--no-lock", "-c", config, program]);
  await Deno.remove(program);
  return success;
}

/** Number of npm packages that the imports load or may load, with their dependencies. */
async function countPackages(imports: readonly string[]): Promise<number> {
  const names = new Set<string>();
  for (const specifier of imports) {
    const { text } = await runDeno(["info", "--json", "--no-lock", "-c", config, specifier]);
    for (const name of Object.keys(JSON.parse(text).npmPackages ?? {})) names.add(name);
  }
  return names.size;
}

async function measureMetric(contender: Contender, metric: string): Promise<number> {
  const script = new URL("./run_metric.ts", import.meta.url).href;
  const values: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const args = ["run", "-A", "--no-lock", "-c", config, script, contender.name, metric];
    const { success, text } = await runDeno(args);
    if (!success) throw new Error(`${contender.name} failed: ${metric}`);
    values.push(Number(text));
  }
  return Math.min(...values);
}

async function measureContender(contender: Contender, emptyMs: number): Promise<string[]> {
  const source = contender.imports.map((specifier) => `import "${specifier}";\n`).join("");
  const importMs = await measureImport(source) - emptyMs;
  const [turn, delta, abort] = [
    await measureMetric(contender, "turn"),
    await measureMetric(contender, "delta"),
    await measureMetric(contender, "abort"),
  ];
  return [
    contender.name,
    `${importMs.toFixed(0)} ms`,
    `${await countPackages(contender.imports)}`,
    await importsWithoutPermission(source) ? "yes" : "no",
    `${turn.toFixed(0)} µs`,
    `${delta.toFixed(1)} µs`,
    `${abort.toFixed(0)} ms`,
  ];
}

if (import.meta.main) {
  const header = [
    "library",
    "import",
    "npm packages",
    "imports without permission",
    "turn with a tool call",
    "text delta",
    "end after abort",
  ];
  const isSelected = ({ name }: Contender) =>
    Deno.args.length === 0 || Deno.args.some((start) => name.startsWith(start));
  const emptyMs = await measureImport("");
  console.log(`| ${header.join(" | ")} |\n| ${header.map(() => "---").join(" | ")} |`);
  for (const contender of CONTENDERS.filter(isSelected)) {
    console.log(`| ${(await measureContender(contender, emptyMs)).join(" | ")} |`);
  }
}
