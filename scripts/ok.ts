/**
 * Runs every check of the project, the same ones here and in CI, and ends in one line, `N passed, N failed`.
 *
 * Each check counts once, and so does each test. `--but=tests` leaves out the check of that name.
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

async function createChecks(config: string): Promise<Check[]> {
  const modules = await readPublicModules();
  return [
    { name: "format", args: ["fmt", "--check", "--quiet"] },
    { name: "lint", args: ["lint", "-c", config, "--quiet"] },
    { name: "types", args: ["check", "-c", config, "--quiet"] },
    { name: "tests", args: ["run", "-A", "scripts/run_tests.ts"] },
    {
      name: "examples",
      args: ["test", "--doc", "-A", "-c", config, ...await findFilesWithExamples()],
    },
    {
      name: "documentation",
      args: ["run", "-A", "scripts/check_documentation.ts", config, ...modules],
    },
    { name: "publishing", args: ["publish", "--dry-run", "--allow-dirty", "-c", config] },
  ];
}

async function readPublicModules(): Promise<string[]> {
  const text = await Deno.readTextFile(new URL("deno.json", root));
  const { exports }: ProjectConfig = JSON.parse(text);
  return Object.values(exports);
}

/** The files whose comments or text hold code that runs. */
async function findFilesWithExamples(): Promise<string[]> {
  const files: string[] = [];
  for (const start of ["mod.ts", "README.md", "src", "adapters", "cli", "docs"]) {
    for await (const file of findSourceFiles(start)) {
      if (/^ *(\* )?```ts$/m.test(await Deno.readTextFile(new URL(file, root)))) files.push(file);
    }
  }
  return files;
}

async function* findSourceFiles(path: string): AsyncGenerator<string> {
  const kind = await Deno.stat(new URL(path, root)).catch(() => undefined);
  if (kind?.isFile && /(?<!_test)\.(ts|md)$/.test(path)) yield path;
  if (!kind?.isDirectory) return;
  for await (const entry of Deno.readDir(new URL(path, root))) {
    yield* findSourceFiles(`${path}/${entry.name}`);
  }
}

async function runCheck({ name, args }: Check): Promise<{ passed: number; failed: number }> {
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

async function main(args: string[]): Promise<number> {
  const { config, set } = await choosePackages();
  console.log(`packages: ${set}`);
  const total = { passed: 0, failed: 0 };
  for (const check of await createChecks(config)) {
    if (args.includes(`--but=${check.name}`)) continue;
    const { passed, failed } = await runCheck(check);
    total.passed += passed;
    total.failed += failed;
  }
  console.log(`\n${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
