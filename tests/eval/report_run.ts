/**
 * An evaluation for tests of reports, with texts that try to leave their place.
 *
 * @module
 */

import { zeroCost, zeroUsage } from "../../src/core/models/usage.ts";
import type { CaseResult, EvalRun, TrajectoryCall } from "../../src/eval/mod.ts";

/** A text with the syntax of HTML, XML and Markdown, control characters and a lone surrogate. */
export const HOSTILE = '</pre><script>document.title="attacked"</script>' +
  '<img src=x onerror="document.title=\'attacked\'"> & "quoted" ]]> | `code` ```\n```\n# heading\u0000\u001b[31m\ud800\uffff';

function createCall(overrides: Partial<TrajectoryCall> = {}): TrajectoryCall {
  return {
    id: "1",
    tool: "read_file",
    arguments: { path: HOSTILE },
    turn: 1,
    outcome: "completed",
    result: `first line\n${HOSTILE}`,
    durationMs: 12,
    calls: [],
    ...overrides,
  };
}

/** Creates a result. A failed one has a run with a nested call. */
export function createResult(
  caseId: string,
  outcome: CaseResult["outcome"],
  overrides: Partial<CaseResult> = {},
): CaseResult {
  const passed = outcome === "passed";
  const usage = { ...zeroUsage(), total: 1_234 };
  const reply = { prompt: 1, tokens: 617, cost: 0.001, durationMs: 800 };
  return {
    caseId,
    repetition: 1,
    seed: 7,
    model: "anthropic/claude-sonnet-5-5",
    outcome,
    scores: outcome === "skipped" ? [] : [
      { metric: "trajectory", value: 1, passed: true, reason: "2 of 2 expected calls found" },
      {
        metric: "response",
        value: passed ? 1 : 0.25,
        passed,
        ...(!passed && { reason: `The answer does not contain "${HOSTILE}"` }),
      },
    ],
    trajectory: outcome === "skipped" ? undefined : {
      calls: [
        createCall(),
        createCall({
          id: "2",
          tool: "worker",
          turn: 1,
          outcome: passed ? "completed" : "failed",
          calls: [createCall({ id: "3", tool: "inner_tool" })],
        }),
      ],
      replies: [
        { ...reply, turn: 1, text: `I read the file. ${HOSTILE}` },
        { ...reply, turn: 2, text: HOSTILE },
      ],
      turns: 2,
      response: HOSTILE,
      stopReason: "stop",
      usage,
      cost: { ...zeroCost(), total: 0.002 },
    },
    durationMs: 1_700,
    ...overrides,
  };
}

/** Creates an evaluation with its results. */
export function createRun(
  results: readonly CaseResult[],
  overrides: Partial<EvalRun> = {},
): EvalRun {
  const ids = new Set(results.map(({ caseId }) => caseId));
  return {
    version: 1,
    id: "run-1",
    setId: "greetings",
    model: "anthropic/claude-sonnet-5-5",
    seed: 0,
    startedAt: Date.UTC(2026, 7, 22, 10, 15),
    finishedAt: Date.UTC(2026, 7, 22, 10, 16),
    planned: results.length,
    damage: [],
    set: {
      id: "greetings",
      description: `Greets ${HOSTILE}`,
      cases: Array.from(ids, (id) => ({
        id,
        description: `Describes ${HOSTILE}`,
        userMessages: [`Greet me. ${HOSTILE}`],
      })),
    },
    results,
    ...overrides,
  };
}

/** An evaluation with each outcome, an error and repetitions. */
export const MIXED_RUN: EvalRun = createRun([
  createResult("hello", "passed"),
  createResult("goodbye", "failed"),
  createResult("again", "passed", { repetition: 1 }),
  createResult("again", "failed", {
    repetition: 2,
    scores: [{ metric: "run", value: 0, passed: false, reason: "The run failed: no key" }],
  }),
  createResult("later", "skipped"),
]);
