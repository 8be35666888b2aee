/**
 * Recordings of runs that were recorded before.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createAnthropicFrames } from "../../cli/demo/anthropic_frames.ts";
import { Agent } from "../../mod.ts";
import {
  createJudgeEvaluator,
  EvaluatorRegistry,
  type JudgeModel,
  type MakeAgent,
  runEvalSet,
  type RunEvalSetOptions,
} from "../../src/eval/mod.ts";

const SET = {
  id: "set",
  cases: [{
    id: "hello",
    userMessages: ["Go"],
    expectedResponse: { type: "contains", text: "Hello" },
  }],
} as const;

const makeAgent: MakeAgent = ({ fetch }) =>
  new Agent({
    model: "anthropic/claude-sonnet-5-5",
    streamFn: createAnthropic({ apiKey: "key", fetch }),
    retry: () => null,
  });

const failToCreate: MakeAgent = () => Promise.reject(new Error("Set the variable KEY"));

const rejectNetwork = () => Promise.reject(new TypeError("The network is used"));

const refuse = () => {
  const error = { type: "authentication_error", message: "invalid key" };
  return Promise.resolve(Response.json({ type: "error", error }, { status: 401 }));
};

/** Answers with status 200, but without a reply. */
const answerNothing = (body: string, contentType: string) => () =>
  Promise.resolve(new Response(body, { headers: { "content-type": contentType } }));

const answer = (...blocks: readonly string[]) => () => {
  const headers = { "content-type": "text/event-stream" };
  return Promise.resolve(new Response(createAnthropicFrames({ blocks }, 0).join(""), { headers }));
};

/** Makes the run, and returns its outcome with its answer. */
async function run(options: RunEvalSetOptions, create: MakeAgent = makeAgent) {
  const { results: [result] } = await runEvalSet(SET, create, options);
  return { outcome: result?.outcome, response: result?.trajectory?.response };
}

/** Records a run again, and returns the answer of a replay. */
async function recordAgain(options: RunEvalSetOptions, create?: MakeAgent) {
  const directory = await Deno.makeTempDir({ prefix: "swink_recording_" });
  try {
    await run({ record: directory, fetch: answer("Hello") });
    const { outcome } = await run({ ...options, record: directory }, create);
    const { response } = await run({ replay: directory, fetch: rejectNetwork });
    const names = Array.from(Deno.readDirSync(directory), ({ name }) => name).sort();
    assertEquals(names, ["hello.1.jsonl", "runs.jsonl"]);
    return { outcome, response };
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("runEvalSet: a recorded run is kept when a new recording of it fails without a reply", async () => {
  const kept = { outcome: "failed", response: "Hello" } as const;
  assertEquals(await recordAgain({}, failToCreate), kept);
  assertEquals(await recordAgain({ fetch: rejectNetwork }), kept);
  assertEquals(await recordAgain({ fetch: refuse }), kept);
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const frame = `event: error\ndata: ${JSON.stringify(error)}\n\n`;
  assertEquals(await recordAgain({ fetch: answerNothing(frame, "text/event-stream") }), kept);
  assertEquals(await recordAgain({ fetch: answerNothing("<p>Sign in</p>", "text/html") }), kept);
});

Deno.test("runEvalSet: a recorded run is kept when only the judge of a new recording gets a reply", async () => {
  const ask: JudgeModel["ask"] = async (_prompt, { fetch }) => {
    await (await fetch("https://judge.example")).text();
    return '{"score":1,"reason":"good"}';
  };
  const evaluators = EvaluatorRegistry.createDefault();
  const judge = createJudgeEvaluator("correctness", { model: { name: "judge", ask } });
  evaluators.register(judge, { isDefault: true });
  const options = { fetch: answer("Bye"), evaluators };
  assertEquals((await recordAgain(options, failToCreate)).response, "Hello");
});

Deno.test("runEvalSet: a recorded run is replaced by one that fails after a reply, or has another answer", async () => {
  assertEquals(await recordAgain({ fetch: answer("Bye") }), { outcome: "failed", response: "Bye" });
  let requests = 0;
  const cut = () => ++requests === 1 ? answer("Bye")() : rejectNetwork();
  const twice: MakeAgent = async (request) => {
    const agent = await makeAgent(request);
    if ("agent" in agent) return agent;
    agent.followUp("Go on");
    return agent;
  };
  assertEquals((await recordAgain({ fetch: cut }, twice)).response, "Bye");
});
