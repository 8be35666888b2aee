/**
 * Counts the tests in a JUnit report of `deno test`.
 *
 * @module
 */

import type { IgnoredTest } from "./ignored_tests.ts";

/** Results of a test run. */
export interface TestCount {
  passed: number;
  failed: number;
  ignored: IgnoredTest[];
}

interface TestCase {
  name: string;
  outcome: "passed" | "failed" | "ignored";
}

/** Counts tests and steps. A test with steps is counted only if it failed while none of its steps did. */
export function countTests(junit: string): TestCount {
  const count: TestCount = { passed: 0, failed: 0, ignored: [] };
  const suites = junit.matchAll(/<testsuite name="(?:\.\/)?([^"]*)"([\s\S]*?)<\/testsuite>/g);
  for (const [, file = "", suite = ""] of suites) {
    const cases = readCases(suite);
    for (const { name, outcome } of cases.filter((test) => isCounted(test, cases))) {
      if (outcome === "ignored") count.ignored.push({ file, name });
      else count[outcome]++;
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
