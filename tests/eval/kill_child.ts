/**
 * Evaluates a set of 40 cases in the directory that is its first argument; resumes an evaluation that is there. After the number
 * of results that is its second argument, each further one waits until the process is killed.
 */
import { Agent } from "../../mod.ts";
import { createEvalRun, type EvalSet, resumeEvalRun, runEvalSet } from "../../src/eval/mod.ts";
import { reply, scriptedStream } from "../../src/testing/mod.ts";

const [directory = "", limit = "Infinity"] = Deno.args;
let finished = 0;
const set: EvalSet = {
  id: "set",
  cases: Array.from({ length: 40 }, (_, index) => ({
    id: `case_${index}`,
    userMessages: ["Go"],
    expectedResponse: { type: "contains", text: "Hello" },
  })),
};
const writer = await resumeEvalRun(directory, { set })
  .catch(() => createEvalRun(directory, { set }));
await runEvalSet(set, () =>
  new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply(`Hello ${"x".repeat(20_000)}`)]),
  }), {
  parallel: 4,
  finished: writer.finished,
  onResult: async (result) => {
    await writer.append(result);
    console.log(result.caseId);
    if (++finished >= Number(limit)) await new Promise((resolve) => setTimeout(resolve, 600_000));
  },
});
await writer.finish();
