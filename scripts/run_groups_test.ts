import { assertEquals, assertMatch } from "@std/assert";
import { stripVTControlCharacters } from "node:util";
import { createTemporaryDirectory } from "../tests/cli/temporary_directory.ts";
import { type GroupOptions, runGroups } from "./run_groups.ts";

/** Runs modules by their names; returns the results and what was printed. */
async function run(
  modules: Readonly<Record<string, string>>,
  { onPrint = () => {}, ...options }: Partial<GroupOptions> & { readonly onPrint?: () => void } =
    {},
) {
  await using directory = await createTemporaryDirectory(modules);
  let printed = "";
  const results = await runGroups(Object.keys(modules).map((name) => `${directory.path}/${name}`), {
    jobs: 1,
    signal: new AbortController().signal,
    print: (output) => {
      printed += new TextDecoder().decode(output);
      return Promise.resolve(onPrint());
    },
    ...options,
    args: ["--no-check", "--no-config", ...options.args ?? []],
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
  const modules = { "waits_test.ts": waits, "passes_test.ts": PASSES, "fails_test.ts": FAILS };
  const stop = new AbortController();
  const onPrint = () => stop.abort();
  const { results } = await run(modules, { jobs: 2, signal: stop.signal, onPrint });
  assertEquals([results.code, results.passed, results.failed], [143, 2, 1]);
});
