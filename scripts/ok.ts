/**
 * Runs every check of the project, the same ones here and in CI, and ends in one line, `N passed, N failed`.
 *
 * Each check counts once, and so does each test. `--only NAME` runs the check of that name, `--but NAME` the others; both
 * may be repeated.
 *
 * @module
 */

import { choosePackages } from "./packages.ts";

interface Check {
  name: string;
  /** The arguments of `deno`. */
  args: string[];
}

interface ProjectConfig {
  exports: Record<string, string>;
}

const root = new URL("../", import.meta.url);

async function checks(config: string): Promise<Check[]> {
  const modules = await publicModules();
  return [
    { name: "format", args: ["fmt", "--check", "--quiet"] },
    { name: "lint", args: ["lint", "-c", config, "--quiet"] },
    { name: "types", args: ["check", "-c", config, "--quiet"] },
    { name: "tests", args: ["run", "-A", "scripts/run_tests.ts"] },
    { name: "examples", args: ["test", "--doc", "-A", "-c", config, ...await withExamples()] },
    {
      name: "documentation",
      args: ["run", "-A", "scripts/check_documentation.ts", config, ...modules],
    },
    { name: "publishing", args: ["publish", "--dry-run", "--allow-dirty", "-c", config] },
  ];
}

async function publicModules(): Promise<string[]> {
  const text = await Deno.readTextFile(new URL("deno.json", root));
  const { exports }: ProjectConfig = JSON.parse(text);
  return Object.values(exports);
}

/** The files whose comments or text hold code that runs. */
async function withExamples(): Promise<string[]> {
  const files: string[] = [];
  for (const start of ["mod.ts", "README.md", "src", "adapters", "cli", "docs"]) {
    for await (const file of sourceFiles(start)) {
      if (/^ *(\* )?```ts$/m.test(await Deno.readTextFile(new URL(file, root)))) files.push(file);
    }
  }
  return files;
}

async function* sourceFiles(path: string): AsyncGenerator<string> {
  const kind = await Deno.stat(new URL(path, root)).catch(() => undefined);
  if (kind?.isFile && /(?<!_test)\.(ts|md)$/.test(path)) yield path;
  if (!kind?.isDirectory) return;
  for await (const entry of Deno.readDir(new URL(path, root))) {
    yield* sourceFiles(`${path}/${entry.name}`);
  }
}

async function run({ name, args }: Check): Promise<{ passed: number; failed: number }> {
  const start = performance.now();
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: root })
    .output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  console.log(`${success ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  if (!success) console.log(`${out}${err}`);

  const [, passed, failed] = out?.match(/^(\d+) passed, (\d+) failed\n*$/m) ?? [];
  if (passed && failed) return { passed: Number(passed), failed: Number(failed) };
  return { passed: success ? 1 : 0, failed: success ? 0 : 1 };
}

/** Checks chosen by name on the command line; an empty `only` is all of them. */
export interface Selection {
  only: string[];
  but: string[];
}

/**
 * Reads `--only NAME`, `--only=NAME` and the same of `--but`.
 *
 * @throws {Error} When an option or a name is unknown, or a name is missing.
 */
export function parseSelection(args: readonly string[], names: readonly string[]): Selection {
  const selection: Selection = { only: [], but: [] };
  const rest = args.flatMap((arg) => /^--\w+=/.test(arg) ? arg.split("=", 2) : [arg]);
  while (rest.length > 0) {
    const [option = "", name] = rest.splice(0, 2);
    if (option !== "--only" && option !== "--but") throw new Error(`Unknown option: ${option}`);
    if (name === undefined || !names.includes(name)) {
      throw new Error(`${option} needs the name of a check: ${names.join(", ")}`);
    }
    selection[option === "--only" ? "only" : "but"].push(name);
  }
  return selection;
}

async function main(args: string[]): Promise<number> {
  const { config, set } = await choosePackages();
  const all = await checks(config);
  const { only, but } = parseSelection(args, all.map(({ name }) => name));
  console.log(`packages: ${set}`);
  const total = { passed: 0, failed: 0 };
  for (const check of all) {
    if (but.includes(check.name) || (only.length > 0 && !only.includes(check.name))) continue;
    const { passed, failed } = await run(check);
    total.passed += passed;
    total.failed += failed;
  }
  console.log(`\n${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
}

if (import.meta.main) {
  try {
    Deno.exit(await main(Deno.args));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(2);
  }
}
