import { assertEquals } from "@std/assert";
import { countTests } from "./count_tests.ts";

function createSuite(...cases: [name: string, body?: string][]): string {
  const tests = cases.map(([name, body = ""]) =>
    `<testcase name="${name}" classname="./a_test.ts" time="0.1" line="1" col="1">${body}</testcase>`
  );
  return `<testsuite name="./a_test.ts" tests="9">${tests.join("\n")}</testsuite>\n`;
}

const failure = `<failure message="Uncaught Error: no">Error: no\n  at line 1</failure>`;

Deno.test("tests are counted over all files, ignored ones are not", () => {
  const report = createSuite(["one"], ["two", failure]) +
    createSuite(["three"], ["four", "<skipped/>"]);
  assertEquals(countTests(report), { passed: 2, failed: 1 });
});

Deno.test("steps count in place of the test they belong to", () => {
  assertEquals(
    countTests(
      createSuite(["a", failure], ["a &gt; b"], ["a &gt; c", failure], [
        "a &gt; c &gt; d",
        failure,
      ]),
    ),
    { passed: 1, failed: 1 },
  );
});

Deno.test("a test that fails outside its steps counts beside them", () => {
  assertEquals(countTests(createSuite(["a", failure], ["a &gt; b"])), { passed: 1, failed: 1 });
});

Deno.test("an empty report counts nothing", () => {
  assertEquals(countTests(""), { passed: 0, failed: 0 });
});
