/**
 * Runs the tests. The last line of its output is `N passed, N failed`, in which each step counts as a test; the line before
 * has the number of ignored tests, with reasons.
 *
 * The arguments are passed to `deno test`. With `--watch` the tests run again after each change, without these lines.
 *
 * @module
 */

import { groupProjectTests, writeGroups } from "./group_tests.ts";
import { formatIgnoredTests } from "./ignored_tests.ts";
import { addLlama, needsLlama } from "./llama_config.ts";
import { choosePackages } from "./packages.ts";
import { readResults, runGroups, type TestResults } from "./run_groups.ts";

/** Signals that end the tests; Deno accepts no SIGTERM on Windows. */
const SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM"];

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
  const config = await chooseConfig(args);
  return namesFiles(args) ? await runFiles(config, args) : await runProject(config, args);
}

/** Runs some of the test files, each in an isolate of its own. */
async function runFiles(config: string, args: string[]): Promise<number> {
  const directory = await Deno.makeTempDir({ prefix: "swink_tests_" });
  try {
    const report = `${directory}/report.xml`;
    const options = isTypeChecked(args) ? ["--no-check"] : [];
    const code = await runDenoTest([
      ...["--parallel", `--junit-path=${report}`, "-c", config, ...options],
      ...withoutNoCheck(args),
    ]);
    return printResults(await readResults(report, code));
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Runs all test files in groups. Their types are checked at the same time, since that takes one processor a minute. */
async function runProject(config: string, args: string[]): Promise<number> {
  const directory = await Deno.makeTempDir({ prefix: "swink_tests_" });
  using interrupt = abortBySignals();
  const { signal } = interrupt;
  const types = isTypeChecked(args) ? Promise.resolve(true) : checkTypes(config, signal);
  const writer = Deno.stdout.writable.getWriter();
  try {
    const results = await runGroups(await writeGroups(directory, await groupProjectTests()), {
      args: ["-c", config, "--no-check", ...withoutNoCheck(args)],
      jobs: getJobs(),
      signal,
      print: (output) => writer.write(output),
    });
    return printResults(await types ? results : addTypeErrors(results));
  } finally {
    writer.releaseLock();
    await Deno.remove(directory, { recursive: true });
  }
}

/** Aborts a signal when the process is asked to end. */
function abortBySignals(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const abort = () => controller.abort();
  for (const signal of SIGNALS) Deno.addSignalListener(signal, abort);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const signal of SIGNALS) Deno.removeSignalListener(signal, abort);
    },
  };
}

/** Counts failing types as a failed test. */
function addTypeErrors(results: TestResults): TestResults {
  return { ...results, code: results.code || 1, failed: results.failed + 1 };
}

/** Prints the number of ignored, passed and failed tests. Returns the exit code. */
function printResults({ code, passed, failed, ignored }: TestResults): number {
  console.log(`\n${formatIgnoredTests(ignored)}`);
  console.log(`${passed} passed, ${failed} failed`);
  return code;
}

/** Whether something else checks the types, as in CI. */
function isTypeChecked(args: readonly string[]): boolean {
  return Deno.env.get("CI") === "1" || getOptions(args).includes("--no-check");
}

function withoutNoCheck(args: readonly string[]): string[] {
  return args.filter((argument) => argument !== "--no-check");
}

/** Checks the types of all files, prints the errors, and returns whether there are none. */
async function checkTypes(config: string, signal: AbortSignal): Promise<boolean> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", "-c", config],
    signal,
  }).output();
  if (!success) await Deno.stderr.write(stderr);
  return success;
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

async function chooseConfig(args: readonly string[]): Promise<string> {
  const { config } = await choosePackages();
  return needsLlama(args) ? await addLlama(config) : config;
}

/** Files that run at once in addition to one for each processor, since many tests wait for processes and timers. */
const WAITING_FILES = 2;

/** Returns the number of files or groups that run at once. */
function getJobs(): number {
  return Number(Deno.env.get("DENO_JOBS")) || navigator.hardwareConcurrency + WAITING_FILES;
}

async function runDenoTest(args: string[]): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", ...args],
    env: { DENO_JOBS: `${getJobs()}` },
  }).spawn();
  for (const signal of SIGNALS) Deno.addSignalListener(signal, () => child.kill(signal));
  return (await child.status).code;
}

if (import.meta.main) Deno.exit(await runTests(Deno.args));
