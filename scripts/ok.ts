/**
 * Runs every check of the project, as CI does. The last line of its output is `N passed, N failed`; the line before has
 * the number of ignored tests, with reasons.
 *
 * Each check counts once, and so does each test. `--only NAME` runs one check, `--but NAME` all others; both may be
 * repeated.
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { choosePackages } from "./packages.ts";

interface Check {
  name: string;
  /** Arguments of `deno`. */
  args: string[];
}

interface ProjectConfig {
  exports: Record<string, string>;
}

const root = new URL("../", import.meta.url);

async function listChecks(config: string): Promise<Check[]> {
  const modules = await readPublicModules();
  return [
    { name: "format", args: ["fmt", "--check", "--quiet"] },
    { name: "lint", args: ["lint", "-c", config, "--quiet"] },
    { name: "types", args: ["run", "-A", "scripts/check_types.ts", config] },
    { name: "tests", args: ["run", "-A", "scripts/run_tests.ts", "--no-check"] },
    { name: "examples", args: ["run", "-A", "scripts/run_examples.ts", config] },
    {
      name: "documentation",
      args: ["run", "-A", "scripts/check_documentation.ts", config, ...modules],
    },
    {
      name: "publishing",
      args: ["run", "-A", "-c", config, "scripts/jsr/publish.ts", "--dry-run", "--allow-dirty"],
    },
  ];
}

async function readPublicModules(): Promise<string[]> {
  const text = await Deno.readTextFile(new URL("deno.json", root));
  const { exports }: ProjectConfig = JSON.parse(text);
  return Object.values(exports);
}

interface CheckResult {
  passed: number;
  failed: number;
  /** The line about ignored tests, for the check that runs the tests. */
  ignored?: string;
}

async function runCheck({ name, args }: Check): Promise<CheckResult> {
  const start = performance.now();
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: root })
    .output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  console.log(`${success ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
  if (!success) console.log(`${out}${err}`);

  const [, ignored, passed, failed] =
    out?.match(/^(\d+ ignored.*)\n(\d+) passed, (\d+) failed\n*$/m) ?? [];
  if (ignored) return { passed: Number(passed), failed: Number(failed), ignored };
  return { passed: success ? 1 : 0, failed: success ? 0 : 1 };
}

/** Checks selected by name; an empty `only` selects all. */
export interface Selection {
  only: string[];
  but: string[];
}

/**
 * Parses `--only NAME` and `--but NAME`.
 *
 * @throws {Error} When an option or a name is unknown, or a name is missing.
 */
export function parseSelection(args: readonly string[], names: readonly string[]): Selection {
  const { only, but } = parseArgs(args, {
    string: ["only", "but"],
    collect: ["only", "but"],
    unknown: (argument) => {
      throw new Error(`Unknown option: ${argument}`);
    },
  });
  if (![...only, ...but].every((name) => names.includes(name))) {
    throw new Error(`An option needs the name of a check: ${names.join(", ")}`);
  }
  return { only, but };
}

async function main(args: string[]): Promise<number> {
  const { config, set } = await choosePackages();
  const checks = await listChecks(config);
  const { only, but } = parseSelection(args, checks.map(({ name }) => name));
  console.log(`packages: ${set}`);
  const total = { passed: 0, failed: 0 };
  let ignored = "";
  for (const check of checks) {
    if (but.includes(check.name) || (only.length > 0 && !only.includes(check.name))) continue;
    const result = await runCheck(check);
    total.passed += result.passed;
    total.failed += result.failed;
    if (result.ignored) ignored = `${result.ignored}\n`;
  }
  console.log(`\n${ignored}${total.passed} passed, ${total.failed} failed`);
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
