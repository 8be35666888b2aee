import { stripVTControlCharacters } from "node:util";
import { assertEquals, assertMatch } from "@std/assert";
import { createTemporaryDirectory } from "../tests/cli/temporary_directory.ts";
import { type GroupOptions, runGroups } from "./run_groups.ts";

/** Runs modules by their names, one after the other; returns the results and what was printed. */
async function run(
  modules: Readonly<Record<string, string>>,
  { args = [], signal = new AbortController().signal }: Partial<GroupOptions> = {},
) {
  await using directory = await createTemporaryDirectory(modules);
  let printed = "";
  const results = await runGroups(Object.keys(modules).map((name) => `${directory.path}/${name}`), {
    args: ["--no-check", "--no-config", ...args],
    jobs: 1,
    signal,
    print: (output) => Promise.resolve(printed += new TextDecoder().decode(output)),
  });
  return { results, printed: stripVTControlCharacters(printed) };
}

const PASSES = `Deno.test("adds", () => {}); Deno.test("subtracts", () => {});`;
const FAILS = `Deno.test("divides", () => { throw new Error("by zero"); });`;
const IGNORED = `Deno.test["ignore"]("rounds", () => {});`;

Deno.test("runGroups() adds up the results of the groups, and prints those that fail last", async () => {
  const { results, printed } = await run({
    "fails_test.ts": FAILS,
    "passes_test.ts": PASSES,
    "ignored_test.ts": IGNORED,
  });
  const { ignored, ...counts } = results;
  assertEquals(counts, { code: 1, passed: 2, failed: 1 });
  assertEquals(ignored.map(({ name }) => name), ["rounds"]);
  assertMatch(
    printed,
    /subtracts \.\.\. ok[\s\S]*rounds \.\.\. ignored[\s\S]*divides \.\.\. FAILED/,
  );
  assertMatch(printed, /error: Test failed/);
});

Deno.test("runGroups() counts a group that does not load as a failed test", async () => {
  const { results, printed } = await run({ "broken_test.ts": "(", "passes_test.ts": PASSES });
  assertEquals(results, { code: 1, passed: 2, failed: 1, ignored: [] });
  assertMatch(printed, /broken_test\.ts/);
});

Deno.test("runGroups() passes options and arguments on to each group", async () => {
  const reads = `Deno.test("adds", () => { if (Deno.args[0] !== "--update") throw new Error(); });`;
  const modules = { "one_test.ts": reads + FAILS, "two_test.ts": reads };
  const { results } = await run(modules, { args: ["--filter", "adds", "--", "--update"] });
  assertEquals([results.code, results.passed, results.failed], [0, 2, 0]);
});

Deno.test("runGroups() ends the groups that run when its signal is aborted, and runs no others", async () => {
  const waits = `Deno.test("waits", () => new Promise((resolve) => setTimeout(resolve, 60_000)));`;
  const modules = { "waits_test.ts": waits, "passes_test.ts": PASSES };
  const { results } = await run(modules, { signal: AbortSignal.timeout(500) });
  assertEquals([results.code, results.passed, results.failed], [143, 0, 1]);
});
