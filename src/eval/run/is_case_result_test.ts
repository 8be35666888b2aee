import { assertRejects } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import type { EvalSet } from "../case/eval_case.ts";
import type { CaseResult } from "./case_result.ts";
import { runEvalSet } from "./run_eval_set.ts";

Deno.test("runEvalSet: rejects finished results that are no valid results", async () => {
  const expectedResponse = { type: "contains", text: "Hello" } as const;
  const set: EvalSet = { id: "set", cases: [{ id: "a", userMessages: ["Go"], expectedResponse }] };
  const greet = () =>
    new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hello")]) });
  const { results: [valid] } = await runEvalSet(set, greet);
  // From files of another program: without scores, nothing shows that the run passed.
  for (const invalid of [null, {}, { ...valid, scores: [] }, { ...valid, scores: undefined }]) {
    const finished: readonly CaseResult[] = [valid, JSON.parse(JSON.stringify(invalid))];
    await assertRejects(
      () => runEvalSet(set, greet, { finished }),
      BadRequestError,
      "finished[1] is no valid result",
    );
  }
});
