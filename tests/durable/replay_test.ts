import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { DurableSteps } from "../../src/core/durable/durable_steps.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { realSleep } from "../../src/core/ports/ports.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { durableAgent } from "../../src/durable/agent/durable_agent.ts";
import { executeRun } from "../../src/durable/engine/execute_run.ts";
import { RunSteps } from "../../src/durable/steps/run_steps.ts";
import { DetachedError } from "../../src/durable/steps/step_journal.ts";
import { GRACE_MS } from "../../src/loop/callbacks/cancellation.ts";
import { subAgentTool } from "../../src/sub_agents/sub_agent_tool.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { text, toolCall } from "../../src/testing/messages.ts";
import { fail, reply, type ScriptedStep } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { waitUntil } from "../wait_until.ts";
import {
  assertReplays,
  createTools,
  type Effect,
  execute,
  type ExecuteOptions,
  type Execution,
  parameters,
} from "./agent_execution.ts";
import { ArrayJournal } from "./array_journal.ts";

const WORK: readonly ScriptedStep[] = [
  reply([
    text("I begin."),
    toolCall("pay", { key: "slow" }, { id: "a" }),
    toolCall("put", { key: "1" }, { id: "b" }),
    toolCall("put", { key: "2" }, { id: "c" }),
    toolCall("read", { key: "3" }, { id: "d" }),
  ]),
  reply([
    toolCall("read", { key: "slow" }, { id: "e" }),
    toolCall("alone", { key: "4" }, { id: "f" }),
    toolCall("pay", { key: "5" }, { id: "g" }),
    toolCall("unknown", {}, { id: "h" }),
  ]),
  reply("Done."),
];

Deno.test("durableAgent(): a run has the same outcome after a crash behind any of its steps", async () => {
  const { outcome, journal, effects } = await assertReplays({ script: WORK });
  assertEquals(outcome.type, "completed");
  assertEquals(effects.length, 7);
  assertEquals(journal.records.map(({ name }) => name).toSorted(), [
    "turn 1, call 1 of pay",
    "turn 1, call 1 of pay: intent",
    "turn 1, call 2 of put",
    "turn 1, call 3 of put",
    "turn 1, call 4 of read",
    "turn 1, model call 1",
    "turn 2, call 1 of read",
    "turn 2, call 2 of alone",
    "turn 2, call 3 of pay",
    "turn 2, call 3 of pay: intent",
    "turn 2, model call 1",
    "turn 3, model call 1",
  ]);
});

Deno.test("durableAgent(): calls end in the same order in a replay as in the first execution", async () => {
  const others = createDeferred<void>();
  const last = defineTool({
    name: "last",
    description: "Ends after the others.",
    parameters,
    readOnly: true,
    execute: () => others.promise.then(() => "last"),
  });
  const script = [
    reply([
      toolCall("last", {}, { id: "a" }),
      toolCall("read", { key: "1" }, { id: "b" }),
      toolCall("read", { key: "2" }, { id: "c" }),
    ]),
    reply("End"),
  ];
  const tools = [last, ...createTools([])];
  const onStart = (journal: ArrayJournal) => {
    journal.onRecord = () => journal.records.length === 3 && others.resolve();
  };
  const full = await execute({ script, tools, onStart });
  const replayed = await execute({ script: [], tools, records: full.journal.records });
  const listEnds = ({ events }: Execution) =>
    events.flatMap((event) => event.type === "tool_execution_end" ? [event.id] : []);
  assertEquals(listEnds(full).at(-1), "a");
  assertEquals(listEnds(replayed), listEnds(full));
});

Deno.test("durableAgent(): a call of a once tool whose process ended is not repeated, one of an idempotent tool is", async () => {
  const script = [
    reply([
      toolCall("pay", { key: "1" }, { id: "a" }),
      toolCall("put", { key: "2" }, { id: "b" }),
    ]),
    reply("Checked."),
  ];
  let first: Execution | undefined;
  const crashed = { script, crashAt: (name: string) => /call \d of p\w+$/.test(name) };
  const journals: ArrayJournal[] = [];
  const effects: Effect[] = [];
  try {
    first = await execute({
      ...crashed,
      tools: createTools(effects),
      onStart: (journal) => journals.push(journal),
    });
  } catch (error) {
    assert(error instanceof DetachedError);
  }
  assertEquals(first, undefined);
  await waitUntil(() => effects.length === 2);
  assertEquals(effects.map(({ tool }) => tool).toSorted(), ["pay", "put"]);
  const second = await execute({ script, records: journals[0]?.records ?? [] });
  assertEquals(second.effects.map(({ tool }) => tool), ["put"]);
  assertEquals(
    second.effects[0]?.idempotencyKey,
    effects.find(({ tool }) => tool === "put")?.idempotencyKey,
  );
  assertStringIncludes(
    JSON.stringify(second.outcome),
    "The outcome of this tool call is not known",
  );
});

Deno.test("durableAgent(): the recorded events of a reply come back with the same deltas", async () => {
  const full = await execute({
    script: [reply([text("One, two, three"), toolCall("read", { key: "1" })]), reply("End")],
  });
  const replayed = await execute({ script: [], records: full.journal.records });
  const pick = ({ events }: Execution) =>
    events.flatMap((event) => event.type === "message_update" ? [event.delta] : []);
  assert(pick(full).length > 3);
  assertEquals(pick(replayed), pick(full));
  assertEquals(
    replayed.events.map(({ type }) => type),
    full.events.map(({ type }) => type),
  );
  assertEquals(replayed.journal.executed, []);
});

Deno.test("durableAgent(): events are in order, in the first execution and in a replay", async () => {
  const journal = new ArrayJournal();
  const workflow = async (steps: DurableSteps) => {
    const options = { model: "test/model", streamFn: scriptedStream(WORK), tools: createTools([]) };
    await checkEvents(durableAgent(options, steps).promptStream("Work"));
  };
  assertEquals((await executeRun(journal, { workflow, input: null })).type, "completed");
  const again = new ArrayJournal(journal.records);
  assertEquals((await executeRun(again, { workflow, input: null })).type, "completed");
});

Deno.test("durableAgent(): retries wait as steps, and are not repeated", async () => {
  const script = [
    fail("network_error", "connection lost"),
    reply([toolCall("read", { key: "1" }, { id: "a" })]),
    reply("End"),
  ];
  const retry = ({ attempt }: { readonly attempt: number }) => attempt < 3 ? 5 : null;
  const full = await assertReplays({ script, retry });
  assertEquals(full.journal.records.map(({ name }) => name), [
    "turn 1, model call 1",
    "turn 1, retry 1",
    "turn 1, model call 2",
    "turn 1, call 1 of read",
    "turn 2, model call 1",
  ]);
});

Deno.test("durableAgent(): tools that are set later or passed for one run are steps", async () => {
  const effects: Effect[] = [];
  const tools = createTools(effects);
  const full = await execute({
    script: [
      reply([toolCall("pay", { key: "1" }), toolCall("read", { key: "2" })]),
      reply("End"),
      reply("Second run"),
    ],
    tools: [],
    prompt: async (agent) => {
      agent.setTools(tools.slice(0, 1));
      agent.setTools(agent.state.tools);
      await agent.prompt("Work", { tools: tools.slice(2, 3) });
      return await agent.prompt("Again");
    },
  });
  assertEquals(full.journal.records.map(({ name }) => name).toSorted(), [
    "run 2, turn 1, model call 1",
    "turn 1, call 1 of pay",
    "turn 1, call 1 of pay: intent",
    "turn 1, call 2 of read",
    "turn 1, call 2 of read: intent",
    "turn 1, model call 1",
    "turn 2, model call 1",
  ]);
});

Deno.test("durableAgent(): the calls of an agent that a tool runs are part of the step of the tool", async () => {
  const effects: Effect[] = [];
  const own = scriptedStream([
    reply([toolCall("explore", { prompt: "Look" }, { id: "a" })]),
    reply("End"),
  ]);
  const child = scriptedStream([reply([toolCall("read", { key: "1" })]), reply("Found")]);
  const full = await execute({
    script: [],
    streamFn: (request) =>
      JSON.stringify(request.context.messages[0]).includes("Look") ? child(request) : own(request),
    tools: [
      subAgentTool({ name: "explore", description: "Looks around.", readOnly: true }),
      ...createTools(effects).slice(2, 3),
    ],
  });
  assertEquals(full.outcome.type, "completed");
  assertEquals(effects.map(({ tool }) => tool), ["read"]);
  assertEquals(full.journal.records.map(({ name }) => name), [
    "turn 1, model call 1",
    "turn 1, call 1 of explore",
    "turn 2, model call 1",
  ]);
});

Deno.test("durableAgent(): agents that a tool runs change no ids and names of a run in a replay", async () => {
  const report = scriptedStream(Array(20).fill(reply("Found")));
  const { outcome, journal } = await assertReplays({
    script: [],
    streamFn: (request) => {
      const { messages } = request.context;
      if (JSON.stringify(messages[0]).includes("Look")) return report(request);
      const isAsked = messages.at(-1)?.role === "user";
      const call = toolCall("explore", { prompt: "Look" }, { id: `${messages.length}` });
      return scriptedStream([reply(isAsked ? [call] : "End")])(request);
    },
    tools: [subAgentTool({ name: "explore", description: "Looks around.", readOnly: true })],
    prompt: async (agent) => {
      await agent.prompt("First");
      return await agent.prompt("Second");
    },
  });
  assertEquals(outcome.type, "completed");
  assertEquals(journal.records.length, 6);
});

Deno.test("durableAgent(): a call cannot start work in the background, which a replay would not have", async () => {
  const { outcome } = await assertReplays({
    script: [reply([toolCall("explore", { prompt: "Look", background: true })]), reply("End")],
    tools: [subAgentTool({ name: "explore", description: "Looks.", background: true })],
  });
  assertStringIncludes(JSON.stringify(outcome), "A durable run has no work in the background");
});

Deno.test("durableAgent(): another conversation in a replay fails with the name of the step", async () => {
  const script = [reply([toolCall("read", { key: "1" }, { id: "a" })]), reply("End")];
  const { journal } = await execute({ script });
  const changed = await execute({
    script,
    records: journal.records,
    prompt: (agent) => agent.prompt("Other work"),
  });
  assertEquals(changed.outcome.type, "failed");
  assertStringIncludes(JSON.stringify(changed.outcome), 'at step \\"turn 1, model call 1\\"');
});

Deno.test("durableAgent(): keys are requested when the model is called, and not recorded", async () => {
  const providers: string[] = [];
  const getApiKey = (provider: string) => {
    providers.push(provider);
    return "secret-key";
  };
  const full = await execute({ script: [reply("Hi")], getApiKey });
  await execute({ script: [], records: full.journal.records, getApiKey });
  assertEquals(providers, ["test"]);
  assert(!JSON.stringify(full.journal.records).includes("secret-key"));
});

/** Creates a model that fails for the model `"main"`, and records the keys of its calls. */
function recordKeys(steps: readonly ScriptedStep[]) {
  const keys: string[] = [];
  const inner = scriptedStream(steps);
  const streamFn: StreamFn = (request) => {
    const { model: { provider, modelId }, options } = request;
    keys.push(`${provider}/${modelId}: ${options.apiKey}`);
    return inner(request);
  };
  return { keys, streamFn };
}

Deno.test("durableAgent(): fallbacks get the keys that they get without steps", async () => {
  const down = fail("network_error", "Down");
  const script = [down, down, down, down, reply("Hi")];
  const fallback: AgentOptions["fallback"] = [
    "test/second",
    { model: modelSpec("test/third"), getApiKey: () => undefined },
    { model: modelSpec("other/fourth"), getApiKey: (provider) => `key of ${provider}` },
    { model: modelSpec("other/fifth") },
  ];
  const options = { fallback, streamOptions: { apiKey: "secret" }, retry: () => null };
  const plain = recordKeys(script);
  await new Agent({ model: "test/model", streamFn: plain.streamFn, ...options }).prompt("Work");
  const durable = recordKeys(script);
  await execute({ script: [], streamFn: durable.streamFn, ...options });
  assertEquals(durable.keys, plain.keys);
  assertEquals(durable.keys, [
    "test/model: secret",
    "test/second: secret",
    "test/third: secret",
    "other/fourth: key of other",
    "other/fifth: undefined",
  ]);
});

Deno.test("durableAgent(): an agent that a tool runs gets the keys of the run", async () => {
  const { keys, streamFn } = recordKeys([
    reply([toolCall("explore", { prompt: "Look" }, { id: "a" })]),
    reply("Seen"),
    reply("Done"),
  ]);
  const { outcome } = await execute({
    script: [],
    streamFn,
    getApiKey: () => "secret",
    tools: [subAgentTool({ name: "explore", description: "Looks around.", readOnly: true })],
  });
  assertEquals(outcome.type, "completed");
  assertEquals(keys, Array(3).fill("test/model: secret"));
});

Deno.test("durableAgent(): files that a request needs are read once", async () => {
  let reads = 0;
  const readFile = () => {
    reads++;
    return Promise.resolve(new Uint8Array([137, 80, 78, 71]));
  };
  const image = { type: "image", source: { type: "file", path: "/a.png", mediaType: "image/png" } };
  const options: ExecuteOptions = {
    script: [reply("A picture")],
    readFile,
    prompt: (agent) => agent.prompt({ text: "Describe", images: [image as never] }),
  };
  const full = await execute(options);
  assertEquals(full.outcome.type, "completed");
  await execute({ ...options, records: full.journal.records });
  assertEquals(reads, 1);
});

Deno.test("durableAgent(): a replayed reply has its cost, although the model is not called and its prices load late", async () => {
  const usage = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0, total: 1_000_000 };
  const createModel = (): StreamFn => {
    const scripted = scriptedStream([
      reply([toolCall("read", { key: "1" })], { usage }),
      reply("End", { usage }),
    ]);
    let rates: { input: number; output: number } | undefined;
    const load = () => Promise.resolve().then(() => void (rates = { input: 3, output: 15 }));
    const call: StreamFn = (request) => {
      void load();
      return scripted(request);
    };
    return Object.assign(call, { prices: () => rates, loadFacts: load });
  };
  const listCosts = ({ events }: Execution) =>
    events.flatMap((event) => event.type === "model_call_end" ? [event.cost.total] : []);
  const full = await execute({ script: [], streamFn: createModel() });
  const replayed = await execute({
    script: [],
    streamFn: createModel(),
    records: full.journal.records,
  });
  assertEquals(listCosts(full), [3, 3]);
  assertEquals(listCosts(replayed), listCosts(full));
  assertEquals(replayed.events.map(({ type }) => type), full.events.map(({ type }) => type));
});

Deno.test("durableAgent(): the times of a reply are the same in a replay", async () => {
  const shown = createDeferred<void>();
  const streamFn: StreamFn = async function* (request) {
    for await (const event of scriptedStream([reply("One")])(request)) {
      yield event;
      if (event.type !== "text_delta") continue;
      await shown.promise;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const onStart = (_journal: ArrayJournal, agent: Agent) => {
    agent.subscribe(async (event) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (event.type === "message_update") shown.resolve();
    });
  };
  const listTimes = ({ events }: Execution) =>
    events.flatMap((event) =>
      event.type === "model_call_end" ? [[event.ttftMs, event.durationMs]] : []
    );
  const full = await execute({ script: [], streamFn, onStart });
  const [[ttftMs = Infinity, durationMs = 0] = []] = listTimes(full);
  assert(ttftMs < durationMs, `${ttftMs} ms, ${durationMs} ms`);
  const replayed = await execute({ script: [], onStart, records: full.journal.records });
  assertEquals(listTimes(replayed), listTimes(full));
});

Deno.test("durableAgent(): the calls of a turn that came from the record are not those of the next one", async () => {
  const counts: number[] = [];
  const script = [reply([toolCall("read", { key: "1" }, { id: "a" })]), reply("End")];
  const prompt = async (agent: Agent, steps: DurableSteps) => {
    const result = await agent.prompt("Work");
    if (steps instanceof RunSteps) counts.push(steps.replayedCalls.size);
    return result;
  };
  const full = await execute({ script, prompt });
  await execute({ script: [], prompt, records: full.journal.records });
  assertEquals(counts, [0, 0]);
});

Deno.test("durableAgent(): the step of a cancelled call is recorded before the run ends", async () => {
  const hang = defineTool({
    name: "hang",
    description: "Ends with its abort.",
    parameters,
    readOnly: true,
    execute: (_args, { signal }) =>
      new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("late"))),
  });
  const full = await execute({
    script: [reply([toolCall("hang", {}, { id: "a" })])],
    tools: [hang],
    // The grace period of the loop ends at once.
    sleep: (milliseconds, signal) => realSleep(milliseconds <= GRACE_MS ? 0 : milliseconds, signal),
    onStart: (journal, agent) => {
      journal.recordMs = 20;
      agent.subscribe(({ type }) => {
        if (type === "tool_execution_start") setTimeout(() => agent.abort("enough"), 1);
      });
    },
  });
  const { records } = full.journal;
  assertEquals(records.map(({ name }) => name), ["turn 1, model call 1", "turn 1, call 1 of hang"]);
});
