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
  readonly output: readonly Uint8Array[];
}

/**
 * Runs the modules of groups in their order, with their reports next to them. Prints the output of a group when it ends; that of those that fail comes last.
 * SIGINT and SIGTERM end those that run.
 */
export async function runGroups(
  modules: readonly string[],
  { jobs, print, ...options }: GroupOptions,
): Promise<TestResults> {
  using interrupt = abortBySignals();
  const queue = modules.values();
  const ended: EndedGroup[] = [];
  await Promise.all(Array.from({ length: jobs }, async () => {
    for (const module of queue) {
      if (interrupt.signal.aborted) return;
      const group = await runGroup(module, { ...options, signal: interrupt.signal });
      ended.push(group);
      if (group.code === 0) await printAll(group, print);
    }
  }));
  const failed = ended.filter(({ code }) => code !== 0);
  for (const group of failed) await printAll(group, print);
  return {
    code: failed[0]?.code ?? 0,
    passed: sum(ended, "passed"),
    failed: sum(ended, "failed"),
    ignored: ended.flatMap(({ ignored }) => ignored),
  };
}

interface RunOptions extends Pick<GroupOptions, "args"> {
  readonly signal: AbortSignal;
}

async function runGroup(module: string, { args, signal }: RunOptions): Promise<EndedGroup> {
  const report = `${module}.xml`;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", `--junit-path=${report}`, module, ...args],
    stdin: "null",
    signal,
  }).output();
  return { ...await readResults(report, code), output: [stdout, stderr] };
}

/** Reads the report of a `deno test`. Files that fail to load or to type-check are not in it, but in the exit code. */
export async function readResults(report: string, code: number): Promise<TestResults> {
  const text = await Deno.readTextFile(report).catch(() => "");
  const { passed, failed, ignored } = countTests(text);
  return { code, passed, failed: code === 0 ? failed : Math.max(failed, 1), ignored };
}

async function printAll({ output }: EndedGroup, print: GroupOptions["print"]): Promise<void> {
  for (const bytes of output) await print(bytes);
}

function sum(groups: readonly EndedGroup[], key: "passed" | "failed"): number {
  return groups.reduce((sum, group) => sum + group[key], 0);
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

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
