import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../mod.ts";
import { calculateRobustness, type MakeAgent, runEvalSet } from "../../src/eval/mod.ts";
import { chaos, fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";

const SET = {
  id: "set",
  cases: [{
    id: "reads",
    userMessages: ["Go"],
    expectedResponse: { type: "contains", text: "Ada" },
    expectedTrajectory: { match: "in_order", calls: [{ tool: "read" }] },
  }],
} as const;

/** An agent that answers with the result of its tool, and gives up after a number of attempts. */
const answerWithFile = (attempts: number): MakeAgent => ({ seed }) => {
  const faults = chaos({ seed, rate: 0.3, delayMs: 0, now: () => 0 });
  const streamFn = faults.wrapStreamFn(scriptedStream([
    reply([toolCall("read", { path: "user.txt" })]),
    ({ context }) => {
      const last = context.messages.at(-1);
      const [block] = last?.role === "tool_result" ? last.content : [];
      return reply(`It is ${block?.type === "text" ? block.text : "unknown"}`);
    },
  ]));
  return new Agent({
    model: "test/model",
    streamFn,
    tools: [faults.wrapTool(fakeTool({ name: "read", result: "Ada" }))],
    now: faults.now,
    retry: ({ attempt }) => attempt < attempts ? 0 : null,
  });
};

const SEEDS = Array.from({ length: 40 }, (_, index) => index + 1);

Deno.test("robustness: an agent that retries passes more seeds than one that does not", async () => {
  const measure = async (attempts: number) => {
    const result = await runEvalSet(SET, answerWithFile(attempts), { seeds: SEEDS, parallel: 4 });
    const [robustness] = calculateRobustness(result);
    assertEquals(robustness?.total, 40);
    assertEquals(robustness?.failedSeeds.length, 40 - (robustness?.passed ?? 0));
    return robustness?.score ?? NaN;
  };
  const [fragile, robust] = [await measure(1), await measure(6)];
  assert(fragile < robust && robust < 1, `${fragile}, ${robust}`);
});

Deno.test("robustness: a failed seed fails again, with the same trajectory", async () => {
  const result = await runEvalSet(SET, answerWithFile(2), { seeds: SEEDS });
  const [robustness] = calculateRobustness(result);
  const failed = result.results.filter(({ outcome }) => outcome === "failed");
  assert(failed.length > 0);
  const repeated = await runEvalSet(SET, answerWithFile(2), {
    seeds: robustness?.failedSeeds ?? [],
  });
  const outline = (runs: typeof failed) =>
    runs.map(({ seed, scores, trajectory }) =>
      JSON.stringify([
        seed,
        scores,
        trajectory?.calls.map(({ outcome, result }) => [outcome, result]),
      ])
    );
  assertEquals(outline([...repeated.results]), outline(failed));
});

Deno.test("calculateRobustness: ignores skipped runs", async () => {
  const signal = AbortSignal.abort();
  const result = await runEvalSet(SET, answerWithFile(1), { seeds: [1, 2], signal });
  assertEquals(calculateRobustness(result), []);
});
