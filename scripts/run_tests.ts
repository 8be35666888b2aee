/**
 * Runs the tests. The last line of its output is `N passed, N failed`, in which each step counts as a test; the line before
 * has the number of ignored tests, with reasons.
 *
 * The arguments are passed to `deno test`. With `--watch` the tests run again after each change, without these lines.
 *
 * @module
 */

import { countTests } from "./count_tests.ts";
import { groupProjectTests, writeGroups } from "./group_tests.ts";
import { formatIgnoredTests } from "./ignored_tests.ts";
import { addLlama, needsLlama } from "./llama_config.ts";
import { choosePackages } from "./packages.ts";

/** Runs `deno test` with these arguments and returns its exit code. */
export async function runTests(args: string[]): Promise<number> {
  return isWatching(args) ? await watchTests(args) : await runTestsOnce(args);
}

/** Whether `--watch` is among the options of `deno test`, those before `--`. */
export function isWatching(args: readonly string[]): boolean {
  return getOptions(args).some((option) => /^--watch(=|$)/.test(option));
}

/** Runs the tests until interrupted, without a report. */
async function watchTests(args: string[]): Promise<number> {
  return await runDenoTest(["-c", await chooseConfig(args), ...args]);
}

async function runTestsOnce(args: string[]): Promise<number> {
  const directory = await Deno.makeTempDir({ prefix: "swink_tests_" });
  try {
    const report = `${directory}/report.xml`;
    const options = ["-c", await chooseConfig(args), "--parallel", `--junit-path=${report}`];
    if (hasOtherTypeCheck()) options.push("--no-check");
    const groups = namesFiles(args) ? [] : await writeGroups(directory, await groupProjectTests());
    const code = await runDenoTest([...options, ...groups, ...args]);
    const { passed, failed, ignored } = countTests(await Deno.readTextFile(report));
    console.log(`\n${formatIgnoredTests(ignored)}`);
    // The report does not contain files that fail to load or to type-check.
    console.log(`${passed} passed, ${code === 0 ? failed : Math.max(failed, 1)} failed`);
    return code;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Whether the arguments may name files, which then run in isolates of their own. */
export function namesFiles(args: readonly string[]): boolean {
  return getOptions(args).some((option) => !option.startsWith("-"));
}

/** Returns the arguments before `--`. */
function getOptions(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return end < 0 ? args : args.slice(0, end);
}

/** Whether the types are checked next to the tests, as in CI, where a second check would take a minute. */
function hasOtherTypeCheck(): boolean {
  return Deno.env.get("CI") === "1";
}

async function chooseConfig(args: readonly string[]): Promise<string> {
  const { config } = await choosePackages();
  return needsLlama(args) ? await addLlama(config) : config;
}

async function runDenoTest(args: string[]): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), { args: ["test", "-A", ...args] }).spawn();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => child.kill(signal));
  }
  return (await child.status).code;
}

if (import.meta.main) Deno.exit(await runTests(Deno.args));
