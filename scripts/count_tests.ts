/**
 * Counts the tests in a JUnit report of `deno test`.
 *
 * @module
 */

/** How many tests of a run passed and failed; ignored ones are neither. */
export interface TestCount {
  passed: number;
  failed: number;
}

interface TestCase {
  name: string;
  outcome: "passed" | "failed" | "ignored";
}

/** Counts tests and steps; a test that has steps is not counted beside them, unless it failed without one of them. */
export function countTests(junit: string): TestCount {
  const count: TestCount = { passed: 0, failed: 0 };
  for (const [, suite = ""] of junit.matchAll(/<testsuite ([\s\S]*?)<\/testsuite>/g)) {
    const cases = readCases(suite);
    for (const { outcome } of cases.filter((test) => isCounted(test, cases))) {
      if (outcome !== "ignored") count[outcome]++;
    }
  }
  return count;
}

function readCases(suite: string): TestCase[] {
  return [...suite.matchAll(/<testcase name="([^"]*)"[^>]*>([\s\S]*?)<\/testcase>/g)].map(
    ([, name = "", body = ""]) => ({ name, outcome: parseOutcome(body) }),
  );
}

function parseOutcome(body: string): TestCase["outcome"] {
  if (/<(failure|error)\b/.test(body)) return "failed";
  return body.includes("<skipped") ? "ignored" : "passed";
}

function isCounted(test: TestCase, cases: TestCase[]): boolean {
  const steps = cases.filter((other) => other.name.startsWith(`${test.name} &gt; `));
  if (steps.length === 0) return true;
  return test.outcome === "failed" && steps.every((step) => step.outcome !== "failed");
}
