/**
 * Runs test files on another runtime, each in a process of its own: what a file leaves behind, such as a timer that keeps
 * the process running, is reported by the name of the file, and no file finds what another one has loaded or changed.
 *
 * @module
 */

import { runFile, type Runtime, type TestApp } from "./runtimes.ts";

/** Maximum time of a file, in milliseconds: more than that of a test in `deno_shim.ts`, which reports the test by its name. */
const MAX_FILE_MS = 300_000;

/** The results of test files. */
export interface FileResults {
  readonly passed: number;
  readonly skipped: number;
  /** A text for each file that has not passed: its name, the problem, and the output. */
  readonly problems: readonly string[];
}

type FileResult = Pick<FileResults, "passed" | "skipped"> & { readonly problem?: string };

/** Runs compiled test files, as many at the same time as there are processors. */
export async function runTestFiles(
  runtime: Runtime,
  app: TestApp,
  tests: readonly string[],
): Promise<FileResults> {
  const queue = tests.values();
  const results: FileResult[] = [];
  await Promise.all(Array.from({ length: navigator.hardwareConcurrency }, async () => {
    for (const test of queue) results.push(await runTestFile(runtime, app, test));
  }));
  return {
    passed: sum(results, "passed"),
    skipped: sum(results, "skipped"),
    problems: results.flatMap(({ problem }) => problem ?? []),
  };
}

async function runTestFile(runtime: Runtime, app: TestApp, test: string): Promise<FileResult> {
  const { success, text, isLate } = await runFile(runtime, app, test, MAX_FILE_MS);
  const passed = readCount(text, runtime.passedPattern);
  const skipped = readCount(text, runtime.skippedPattern);
  const problem = isLate
    ? `its process has not ended after ${MAX_FILE_MS / 1000} seconds`
    : !success
    ? "it failed"
    : passed + skipped === 0
    ? "it ended before its tests"
    : undefined;
  return { passed, skipped, ...(problem && { problem: `${test}: ${problem}\n${text}` }) };
}

function readCount(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? 0);
}

function sum(results: readonly FileResult[], key: "passed" | "skipped"): number {
  return results.reduce((sum, result) => sum + result[key], 0);
}
