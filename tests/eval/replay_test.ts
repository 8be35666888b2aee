import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createAnthropicFrames, type ScriptedReply } from "../../cli/demo/anthropic_frames.ts";
import { Agent, BadRequestError, defineTool } from "../../mod.ts";
import {
  type CaseResult,
  createJudgeEvaluator,
  type EvalAgentRequest,
  EvaluatorRegistry,
  type JudgeModel,
  LruJudgeCache,
  type MakeAgent,
  runEvalSet,
  type RunEvalSetOptions,
} from "../../src/eval/mod.ts";
import { fakeTool } from "../../src/testing/mod.ts";

/** A server that gives its replies in order, again for each run. */
function createServer(replies: readonly ScriptedReply[]) {
  const bodies: string[] = [];
  const send: typeof fetch = (_input, init) => {
    const body = String(init?.body);
    const turn = (body.match(/"role":"assistant"/g) ?? []).length;
    bodies.push(body);
    const frames = createAnthropicFrames(replies[turn] ?? { blocks: ["No reply"] }, turn);
    const headers = { "content-type": "text/event-stream" };
    return Promise.resolve(new Response(frames.join(""), { headers }));
  };
  return { fetch: send, bodies };
}

const REPLIES: readonly ScriptedReply[] = [
  { blocks: [{ tool: "measure", input: {} }] },
  { blocks: ["Hello, it is done."] },
];

/** An agent whose prompt and tool results differ in each run. */
const makeAgent: MakeAgent = async ({ getDirectory, fetch, startedAt }) => {
  const directory = await getDirectory();
  const measure = defineTool({
    name: "measure",
    description: "Measures.",
    parameters: { type: "object", properties: {} },
    execute: () => `${directory}/a.ts: ok (${Math.random().toFixed(3)} ms), ${crypto.randomUUID()}`,
  });
  return new Agent({
    model: "anthropic/claude-sonnet-5-5",
    streamFn: createAnthropic({ apiKey: "key", fetch }),
    systemPrompt: `Work in ${directory}. Started at ${startedAt}.`,
    tools: [measure],
  });
};

const SET = {
  id: "set",
  cases: [{
    id: "hello",
    userMessages: ["Go"],
    expectedResponse: { type: "contains", text: "Hello" },
    expectedTrajectory: { match: "exact", calls: [{ tool: "measure" }] },
    repetitions: 2,
  }],
} as const;

const rejectNetwork = () => Promise.reject(new TypeError("The network is used"));

async function useDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "swink_recording_" });
  try {
    await use(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function run(
  options: RunEvalSetOptions,
  create: MakeAgent = makeAgent,
): Promise<readonly CaseResult[]> {
  return (await runEvalSet(SET, create, options)).results;
}

const describe = ({ outcome, scores }: CaseResult) =>
  [outcome, ...scores.map(({ metric, reason }) => `${metric} ${reason ?? "passed"}`)].join("; ");

/** The part of a trajectory that is equal in each replay. */
const outline = ({ trajectory, seed }: CaseResult) => ({
  seed,
  calls: trajectory?.calls.map(({ id, tool, arguments: args }) => ({ id, tool, args })),
  response: trajectory?.response,
  usage: trajectory?.usage,
});

Deno.test("runEvalSet: a replay repeats the recorded runs without a network, in any order", async () => {
  await useDirectory(async (directory) => {
    const server = createServer(REPLIES);
    const recorded = await run({ record: directory, seed: 7, fetch: server.fetch });
    assertEquals(recorded.map(({ outcome }) => outcome), ["passed", "passed"]);
    assertEquals(server.bodies.length, 4);
    for (const parallel of [1, 2]) {
      const replayed = await run({ replay: directory, parallel, fetch: rejectNetwork });
      assertEquals(replayed.map(describe), recorded.map(describe));
      assertEquals(replayed.map(outline), recorded.map(outline));
    }
  });
});

for (const place of ["at its end", "at its start"]) {
  Deno.test(`runEvalSet: a recording whose last line is cut off ${place} is continued`, async () => {
    await useDirectory(async (directory) => {
      const { fetch } = createServer(REPLIES);
      const [first] = await run({ record: directory, fetch });
      const list = `${directory}/runs.jsonl`;
      const text = await Deno.readTextFile(list);
      const end = place === "at its end" ? -9 : text.indexOf("\n") + 3;
      await Deno.writeTextFile(list, text.slice(0, end));
      await run({ record: directory, fetch, ...(first && { finished: [first] }) });
      const replayed = await run({ replay: directory, fetch: rejectNetwork });
      assertEquals(replayed.map(({ outcome }) => outcome), ["passed", "passed"]);
    });
  });
}

Deno.test("runEvalSet: one evaluation at a time records in a directory", async () => {
  await useDirectory(async (directory) => {
    const server = createServer(REPLIES);
    const { promise: hasStarted, resolve: start } = Promise.withResolvers<void>();
    const { promise: isRejected, resolve: release } = Promise.withResolvers<void>();
    const options = { record: directory, fetch: server.fetch };
    const first = run(options, async (request) => {
      start();
      await isRejected;
      return await makeAgent(request);
    });
    await hasStarted;
    await assertRejects(() => run(options), BadRequestError, "being recorded");
    release();
    assertEquals((await first).map(({ outcome }) => outcome), ["passed", "passed"]);
    assertEquals(server.bodies.length, 4);
    await run(options);
    const names = Array.from(Deno.readDirSync(directory), ({ name }) => name).sort();
    assertEquals(names, ["hello.1.jsonl", "hello.2.jsonl", "runs.jsonl"]);
  });
});

Deno.test("runEvalSet: two replays at the same time have directories of their own", async () => {
  await useDirectory(async (directory) => {
    await run({ record: directory, fetch: createServer(REPLIES).fetch });
    const paths = new Set<string>();
    const { promise: allStarted, resolve } = Promise.withResolvers<void>();
    let started = 0;
    const create: MakeAgent = async (request) => {
      paths.add(await request.getDirectory());
      if (++started === 4) resolve();
      await allStarted;
      return await makeAgent(request);
    };
    const options = { replay: directory, parallel: 2, fetch: rejectNetwork };
    const both = await Promise.all([run(options, create), run(options, create)]);
    assertEquals(both.flat().map(({ outcome }) => outcome), Array(4).fill("passed"));
    assertEquals(paths.size, 4);
  });
});

Deno.test("runEvalSet: a replay has the directory and the start of the recorded run", async () => {
  await useDirectory(async (directory) => {
    const requests: (Pick<EvalAgentRequest, "startedAt"> & { path: string })[] = [];
    const create: MakeAgent = async (request) => {
      requests.push({ startedAt: request.startedAt, path: await request.getDirectory() });
      return await makeAgent(request);
    };
    await run({ record: directory, fetch: createServer(REPLIES).fetch }, create);
    await run({ replay: directory, fetch: rejectNetwork }, create);
    assertEquals(requests.slice(2), requests.slice(0, 2));
  });
});

Deno.test("runEvalSet: a replay does not remove a directory that exists already", async () => {
  await useDirectory(async (directory) => {
    const paths: string[] = [];
    const create: MakeAgent = async (request) => {
      paths.push(await request.getDirectory());
      return await makeAgent(request);
    };
    await run({ record: directory, fetch: createServer(REPLIES).fetch }, create);
    const [path = ""] = paths;
    await Deno.mkdir(path);
    try {
      const replayed = await run({ replay: directory, fetch: rejectNetwork }, create);
      assertEquals(replayed.map(({ outcome }) => outcome), ["passed", "passed"]);
      assertEquals((await Deno.stat(path)).isDirectory, true);
    } finally {
      await Deno.remove(path);
    }
  });
});

Deno.test("runEvalSet: a replay creates no directory that is not one of runs", async () => {
  await useDirectory(async (directory) => {
    await run({ record: directory, fetch: createServer(REPLIES).fetch });
    const index = `${directory}/runs.jsonl`;
    const lines = (await Deno.readTextFile(index)).trim().split("\n").map((line) =>
      JSON.parse(line)
    );
    const other = `${directory}/other`;
    const changed = lines.map((line) => `${JSON.stringify({ ...line, directory: other })}\n`);
    await Deno.writeTextFile(index, changed.join(""));
    const paths: string[] = [];
    await run({ replay: directory, fetch: rejectNetwork }, async (request) => {
      paths.push(await request.getDirectory());
      return await makeAgent(request);
    });
    assertEquals([paths.length, paths.includes(other)], [2, false]);
  });
});

Deno.test("runEvalSet: a replay of other requests fails, and shows the difference", async () => {
  await useDirectory(async (directory) => {
    await run({ record: directory, fetch: createServer(REPLIES).fetch });
    const [changed] = await run({ replay: directory, fetch: rejectNetwork }, async (request) => {
      const { agent } = { agent: await makeAgent(request) as Agent };
      agent.setSystemPrompt("Be brief");
      return agent;
    });
    assertEquals(changed?.outcome, "failed");
    assertStringIncludes(changed?.scores[0]?.reason ?? "", "Be brief");
    // The requests that were not repeated are a consequence.
    assertEquals(changed?.scores.filter(({ metric }) => metric === "run").length, 1);
  });
});

Deno.test("runEvalSet: a replay of a prompt, a message or a tool with another number fails", async () => {
  await useDirectory(async (directory) => {
    const set = {
      id: "set",
      cases: [{ id: "hello", userMessages: ["Book 2026-12-24T10:00", "Answer within 10 s"] }],
    };
    const registry = new EvaluatorRegistry();
    registry.register(
      { name: "any", evaluate: () => ({ metric: "any", value: 1, passed: true }) },
      { isDefault: true },
    );
    const texts = { systemPrompt: "Wait 30 seconds", description: "Takes 5 ms", tool: "7 ms" };
    const replay = async (
      messages: readonly string[],
      options: RunEvalSetOptions,
      { systemPrompt, description, tool } = texts,
    ) => {
      const [evalCase] = set.cases;
      const cases = evalCase ? [{ ...evalCase, userMessages: messages }] : [];
      const { results } = await runEvalSet({ ...set, cases }, ({ fetch }) =>
        new Agent({
          model: "anthropic/claude-sonnet-5-5",
          streamFn: createAnthropic({ apiKey: "key", fetch }),
          systemPrompt,
          tools: [fakeTool({ name: "measure", description, result: tool })],
        }), { evaluators: registry, ...options });
      return results[0]?.outcome;
    };
    const [first = "", second = ""] = set.cases[0]?.userMessages ?? [];
    const { fetch } = createServer([...REPLIES, ...REPLIES]);
    assertEquals(await replay([first, second], { record: directory, fetch }), "passed");
    const options = { replay: directory, fetch: rejectNetwork };
    const other = { ...texts, tool: "8 ms" };
    assertEquals(await replay([first, second], options, other), "passed");
    assertEquals(await replay(["Book 2026-12-25T10:00", second], options), "failed");
    assertEquals(await replay([first, "Answer within 20 s"], options), "failed");
    const longer = { ...texts, systemPrompt: "Wait 60 seconds" };
    assertEquals(await replay([first, second], options, longer), "failed");
    const slower = { ...texts, description: "Takes 6 ms" };
    assertEquals(await replay([first, second], options, slower), "failed");
  });
});

Deno.test("runEvalSet: normalize replaces further parts of requests", async () => {
  await useDirectory(async (directory) => {
    let number = 0;
    const create: MakeAgent = async (request) => {
      const agent = await makeAgent(request) as Agent;
      agent.setSystemPrompt(`Process ${number++}`);
      return agent;
    };
    await run({ record: directory, fetch: createServer(REPLIES).fetch }, create);
    const options = { replay: directory, fetch: rejectNetwork };
    assertEquals((await run(options, create))[0]?.outcome, "failed");
    const normalize = (text: string) => text.replace(/Process \d+/, "Process");
    assertEquals((await run({ ...options, normalize }, create))[0]?.outcome, "passed");
    const wrong: object = { normalize: () => undefined };
    await assertRejects(
      () => run({ ...options, ...wrong }, create),
      BadRequestError,
      "normalize must return a text, not undefined",
    );
  });
});

Deno.test("runEvalSet: a replay that does not repeat all requests fails", async () => {
  await useDirectory(async (directory) => {
    await run({ record: directory, fetch: createServer(REPLIES).fetch });
    const [shorter] = await run({ replay: directory, fetch: rejectNetwork }, async (request) => {
      const { fetch } = request;
      let sent = 0;
      const sendOnce: typeof fetch = (...request) =>
        sent++ === 0
          ? fetch(...request)
          : createServer([{ blocks: [] }, { blocks: ["Hello"] }]).fetch(...request);
      return await makeAgent({ ...request, fetch: sendOnce });
    });
    assertEquals(shorter?.outcome, "failed");
    assertStringIncludes(shorter?.scores[0]?.reason ?? "", "unused exchanges");
  });
});

Deno.test("runEvalSet: a replay whose agent uses another fetch fails", async () => {
  await useDirectory(async (directory) => {
    const { fetch } = createServer(REPLIES);
    await run({ record: directory, fetch });
    const [result] = await run(
      { replay: directory },
      (request) => makeAgent({ ...request, fetch }),
    );
    assertStringIncludes(result?.scores[0]?.reason ?? "", "pass the fetch of the request");
  });
});

Deno.test("runEvalSet: a failed run is recorded and replayed, too", async () => {
  await useDirectory(async (directory) => {
    const refuse: typeof fetch = () =>
      Promise.resolve(new Response('{"error":{"type":"authentication_error"}}', { status: 401 }));
    const recorded = await run({ record: directory, fetch: refuse });
    const replayed = await run({ replay: directory, fetch: rejectNetwork });
    assertEquals(recorded[0]?.outcome, "failed");
    assertEquals(replayed.map(describe), recorded.map(describe));
  });
});

Deno.test("runEvalSet: a cancelled run is not part of the recording", async () => {
  await useDirectory(async (directory) => {
    const controller = new AbortController();
    const { fetch: send } = createServer(REPLIES);
    let requests = 0;
    const cancel: typeof fetch = (...request) => {
      // The first request of the second run.
      if (++requests === 3) controller.abort();
      return send(...request);
    };
    const { signal } = controller;
    const recorded = await run({ record: directory, fetch: cancel, signal });
    assertEquals(recorded.map(({ outcome }) => outcome), ["passed", "skipped"]);
    const lines = (await Deno.readTextFile(`${directory}/runs.jsonl`)).trim().split("\n");
    assertEquals(lines.map((line) => JSON.parse(line).repetition), [1]);
  });
});

Deno.test("runEvalSet: a recorded run is kept when a new recording of it is cancelled", async () => {
  await useDirectory(async (directory) => {
    const { fetch } = createServer(REPLIES);
    await run({ record: directory, fetch });
    const recorded = Array.from(Deno.readDirSync(directory), ({ name }) => name).sort();
    const stop = new AbortController();
    let requests = 0;
    const cancelled = await run({
      record: directory,
      signal: stop.signal,
      fetch: async (...request) => {
        if (++requests === 2) stop.abort();
        return await fetch(...request);
      },
    });
    assertEquals(cancelled.map(({ outcome }) => outcome), ["skipped", "skipped"]);
    assertEquals(Array.from(Deno.readDirSync(directory), ({ name }) => name).sort(), recorded);
    const replayed = await run({ replay: directory, fetch: rejectNetwork });
    assertEquals(replayed.map(({ outcome }) => outcome), ["passed", "passed"]);
  });
});

Deno.test("runEvalSet: a file that is no recording is not replaced by one, and no request is sent", async () => {
  await useDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/hello.1.jsonl`, "notes\n");
    const server = createServer(REPLIES);
    const results = await run({ record: directory, fetch: server.fetch });
    assertEquals(results.map(({ outcome }) => outcome), ["failed", "passed"]);
    assertEquals(server.bodies.length, 2);
    assertStringIncludes(results[0]?.scores[0]?.reason ?? "", "is not a cassette");
    assertEquals(results[0]?.scores.filter(({ metric }) => metric === "run").length, 1);
    assertEquals(await Deno.readTextFile(`${directory}/hello.1.jsonl`), "notes\n");
  });
});

Deno.test("runEvalSet: a run that was not recorded fails, and others are replayed", async () => {
  await useDirectory(async (directory) => {
    await run({ record: directory, fetch: createServer(REPLIES).fetch });
    const index = `${directory}/runs.jsonl`;
    const [first = ""] = (await Deno.readTextFile(index)).split("\n");
    // The incomplete second line is what a process leaves that is killed while it writes.
    await Deno.writeTextFile(index, `${first}\n{"caseId":"hel`);
    const results = await run({ replay: directory, fetch: rejectNetwork });
    assertEquals(results.map(({ outcome }) => outcome), ["passed", "failed"]);
    assertStringIncludes(results[1]?.scores[0]?.reason ?? "", 'Repetition 2 of the case "hello"');
    await Deno.writeTextFile(index, "damaged\n");
    await assertRejects(() => run({ replay: directory }), BadRequestError, "runs.jsonl:1");
  });
});

Deno.test("runEvalSet: a replay with seeds has the recorded runs with these seeds", async () => {
  await useDirectory(async (directory) => {
    const { fetch } = createServer(REPLIES);
    const recorded = await run({ record: directory, seeds: [3, 5, 8], fetch });
    const replayed = await run({ replay: directory, seeds: [8, 3], fetch: rejectNetwork });
    const [first, , third] = recorded.map(outline);
    assertEquals(replayed.map(outline), [third, first]);
    assertEquals(replayed.map(({ outcome }) => outcome), ["passed", "passed"]);
    const [missing] = await run({ replay: directory, seeds: [4], fetch: rejectNetwork });
    assertEquals([missing?.seed, missing?.outcome], [4, "failed"]);
    assertStringIncludes(
      missing?.scores[0]?.reason ?? "",
      `The run of the case "hello" with the seed 4 is not in the recording "${directory}"`,
    );
  });
});

Deno.test("runEvalSet: a replay with seeds has the latest of the recorded runs with a seed", async () => {
  await useDirectory(async (directory) => {
    const older = createServer([{ blocks: ["Hello, older."] }]);
    await run({ record: directory, seeds: [3, 5], fetch: older.fetch });
    const newer = createServer([{ blocks: ["Hello, newer."] }]);
    await run({ record: directory, seeds: [5], fetch: newer.fetch });
    const [replayed] = await run({ replay: directory, seeds: [5], fetch: rejectNetwork });
    assertEquals([replayed?.seed, replayed?.trajectory?.response], [5, "Hello, newer."]);
  });
});

Deno.test("runEvalSet: a recording that was killed is no part of a new one without requests", async () => {
  await useDirectory(async (directory) => {
    await run({ record: directory, fetch: createServer(REPLIES).fetch });
    const path = `${directory}/hello.1.jsonl`;
    await Deno.copyFile(path, `${path}.new`);
    await run({ record: directory }, () => Promise.reject(new Error("no agent")));
    const names = Array.from(Deno.readDirSync(directory), ({ name }) => name);
    assertEquals(names.filter((name) => name.startsWith("hello.1.")), ["hello.1.jsonl"]);
    const replayed = await run({ replay: directory, fetch: rejectNetwork });
    assertEquals(replayed.map(({ outcome }) => outcome), ["passed", "passed"]);
  });
});

Deno.test("runEvalSet: rejects a directory without a recording, and record with replay", async () => {
  await useDirectory(async (directory) => {
    await assertRejects(() => run({ replay: directory }), BadRequestError, "no recording in");
    const options = { replay: directory, record: directory };
    await assertRejects(() => run(options), BadRequestError, "either record or replay");
  });
});

Deno.test("runEvalSet: the requests of judges are recorded and replayed, also if the cache has their answer", async () => {
  await useDirectory(async (directory) => {
    let judged = 0;
    const judge: typeof fetch = (input, init) => {
      if (!String(input).includes("judge")) return createServer(REPLIES).fetch(input, init);
      judged++;
      return Promise.resolve(new Response('{"score": 0.9, "reason": "Good"}'));
    };
    const cache = new LruJudgeCache();
    const createRegistry = () => {
      const model: JudgeModel = {
        name: "judge",
        ask: async (prompt, { fetch, signal }) =>
          await (await fetch("https://judge.example.com", { method: "POST", body: prompt, signal }))
            .text(),
      };
      const registry = EvaluatorRegistry.createDefault();
      registry.register(createJudgeEvaluator("correctness", { model, cache }), { isDefault: true });
      return registry;
    };
    // Both repetitions have the same prompt for the judge.
    const create: MakeAgent = ({ fetch }) =>
      new Agent({
        model: "anthropic/claude-sonnet-5-5",
        streamFn: createAnthropic({ apiKey: "key", fetch }),
        tools: [fakeTool({ name: "measure" })],
      });
    await run({ record: directory, fetch: judge, evaluators: createRegistry() }, create);
    assertEquals(judged, 2);
    const options = { replay: directory, fetch: rejectNetwork, evaluators: createRegistry() };
    const replayed = await run(options, create);
    const scores = replayed.map(({ scores }) => scores.at(-1)?.value);
    assertEquals(scores, [0.9, 0.9]);
    assertEquals(replayed.map(({ outcome }) => outcome), ["passed", "passed"]);
  });
});
