import { assertEquals } from "@std/assert";
import { countTests } from "./count_tests.ts";

function createSuite(...cases: [name: string, body?: string][]): string {
  const tests = cases.map(([name, body = ""]) =>
    `<testcase name="${name}" classname="./a_test.ts" time="0.1" line="1" col="1">${body}</testcase>`
  );
  return `<testsuite name="./a_test.ts" tests="9">${tests.join("\n")}</testsuite>\n`;
}

const failure = `<failure message="Uncaught Error: no">Error: no\n  at line 1</failure>`;

Deno.test("countTests() counts the tests of all files and lists ignored ones", () => {
  const report = createSuite(["one"], ["two", failure]) +
    createSuite(["three"], ["four", "<skipped/>"]);
  assertEquals(countTests(report), {
    passed: 2,
    failed: 1,
    ignored: [{ file: "a_test.ts", name: "four" }],
  });
});

Deno.test("countTests() counts steps instead of their test", () => {
  assertEquals(
    countTests(
      createSuite(["a", failure], ["a &gt; b"], ["a &gt; c", failure], [
        "a &gt; c &gt; d",
        failure,
      ]),
    ),
    { passed: 1, failed: 1, ignored: [] },
  );
});

Deno.test("countTests() counts a test that fails outside of its steps", () => {
  const report = createSuite(["a", failure], ["a &gt; b"]);
  assertEquals(countTests(report), { passed: 1, failed: 1, ignored: [] });
});

Deno.test("countTests() returns zeros for an empty report", () => {
  assertEquals(countTests(""), { passed: 0, failed: 0, ignored: [] });
});
