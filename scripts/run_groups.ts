/**
 * Runs groups of test files, each by `deno test` in a process of its own.
 *
 * One process with a thread for each group takes a quarter more processor time: many tests start programs, and each start
 * copies the page tables of the whole process.
 *
 * @module
 */

import { countTests, type TestCount } from "./count_tests.ts";

/** Options for `runGroups()`. */
export interface GroupOptions {
  /** Arguments of `deno test`. */
  readonly args: readonly string[];
  /** Number of groups that run at the same time. */
  readonly jobs: number;
  /** Ends the groups that run. */
  readonly signal: AbortSignal;
  /** Prints the output of a group. */
  readonly print: (output: Uint8Array) => Promise<unknown>;
}

/** The results of test files. */
export interface TestResults extends TestCount {
  /** Exit code of the first `deno test` that failed, or else 0. */
  readonly code: number;
}

/** A group that has run. */
interface EndedGroup extends TestResults {
  /** Its standard output, then its standard error. */
  readonly output: Uint8Array;
}

/** Runs the modules of groups in their order. Prints the output of a group when it ends, or last if the group fails. */
export async function runGroups(
  modules: readonly string[],
  { args, jobs, signal, print }: GroupOptions,
): Promise<TestResults> {
  const queue = modules.values();
  const ended: EndedGroup[] = [];
  await Promise.all(Array.from({ length: jobs }, async () => {
    for (const module of queue) {
      if (signal.aborted) return;
      const group = await runGroup(module, { args, signal });
      ended.push(group);
      if (group.code === 0) await print(group.output);
    }
  }));
  const failed = ended.filter(({ code }) => code !== 0);
  for (const { output } of failed) await print(output);
  return {
    code: failed[0]?.code ?? 0,
    passed: sum(ended, "passed"),
    failed: sum(ended, "failed"),
    ignored: ended.flatMap(({ ignored }) => ignored),
  };
}

async function runGroup(
  module: string,
  { args, signal }: Pick<GroupOptions, "args" | "signal">,
): Promise<EndedGroup> {
  const report = `${module}.xml`;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", `--junit-path=${report}`, module, ...args],
    stdin: "null",
    signal,
  }).output();
  return { ...await readResults(report, code), output: await new Blob([stdout, stderr]).bytes() };
}

/** Reads the report of a `deno test`. Files that fail to load or to type-check are not in it, but in the exit code. */
export async function readResults(report: string, code: number): Promise<TestResults> {
  const text = await Deno.readTextFile(report).catch(() => "");
  const { passed, failed, ignored } = countTests(text);
  return { code, passed, failed: code === 0 ? failed : Math.max(failed, 1), ignored };
}

function sum(groups: readonly EndedGroup[], key: "passed" | "failed"): number {
  return groups.reduce((sum, group) => sum + group[key], 0);
}
