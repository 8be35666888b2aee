// Evaluates a coding agent with the cases in evals/, and gates the results. The model is scripted; with another `streamFn` the
// same cases evaluate a real one, as `swink eval run examples/evals/cases.yaml -m provider/model` does.

import { Agent } from "@swink/agent";
import {
  EvaluatorRegistry,
  gate,
  loadEvalSet,
  type MakeAgent,
  runEvalSet,
  summarizeRun,
} from "@swink/agent/eval";
import { scriptedStream } from "@swink/agent/testing";
import { codingTools, createSandbox } from "@swink/agent/tools";
import { SCRIPT } from "./evals/script.ts";

// The checks of the fixture run with this deno.
const deno = Deno.execPath().replace(/[\\/][^\\/]+$/, "");
const environment = { PATH: `${deno}:${Deno.env.get("PATH") ?? ""}` };

const makeAgent: MakeAgent = async ({ evalCase, getDirectory }) => {
  const sandbox = createSandbox({ cwd: await getDirectory(), environment });
  const streamFn = scriptedStream(SCRIPT[evalCase.id] ?? []);
  const tools = codingTools({ sandbox });
  const agent = new Agent({ model: "example/large", streamFn, tools, approvalMode: "bypassed" });
  return { agent, [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose]() };
};

for (const name of ["cases.yaml", "failing_cases.yaml"]) {
  const set = await loadEvalSet(`${import.meta.dirname}/evals/${name}`);
  const result = await runEvalSet(set, makeAgent, {
    parallel: 4,
    evaluators: EvaluatorRegistry.createDefault({
      openSandbox: ({ cwd }) => createSandbox({ cwd, environment }),
    }),
  });
  const { passed, failed } = summarizeRun(result);
  const { type, reasons } = gate(result);
  console.log(`${set.id}: ${passed} passed, ${failed} failed`, [type, ...reasons]);
  for (const { caseId, scores } of result.results) {
    for (const { metric, reason = "" } of scores.filter(({ passed }) => !passed)) {
      console.log(`  ${caseId}: ${metric}: ${reason.split("\n")[0]}`);
    }
  }
}

// Prints:
// inventory: 13 passed, 0 failed [ "pass" ]
// inventory-failing: 0 passed, 2 failed [ "fail", "0 of 2 runs passed; the minimum is 100 %" ]
//   claims_without_work: checks: The command exited with code 1:
//   repeats_itself: run: The budget stopped the run: 5 turns exceed 4
//   repeats_itself: response: The answer does not contain "rules.md"
//   repeats_itself: efficiency: 75 % of the calls are repeated, step ratio 0.50
