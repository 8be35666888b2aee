import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Agent } from "../../src/agent/agent.ts";
import type { AgentResult } from "../../src/agent/agent_result.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { createDeferred } from "../../src/core/deferred.ts";
import type { DurableSteps } from "../../src/core/durable_steps.ts";
import type { AgentEvent } from "../../src/core/event.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { userMessage } from "../../src/core/message.ts";
import { type AgentTool, defineTool, type ToolContext } from "../../src/core/tool.ts";
import { durableAgent } from "../../src/durable/agent/durable_agent.ts";
import { executeRun } from "../../src/durable/engine/execute_run.ts";
import type { DurableOutcome } from "../../src/durable/engine/run_outcome.ts";
import { DetachedError } from "../../src/durable/steps/step_journal.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { text, toolCall } from "../../src/testing/messages.ts";
import { fail, hang, reply, type ScriptedStep } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { waitUntil } from "../wait_until.ts";
import { ArrayJournal, type RecordedStep } from "./array_journal.ts";

const parameters = { type: "object", properties: { key: { type: "string" } } } as const;

/** An effect of a tool. */
interface Effect {
  readonly tool: string;
  readonly key: unknown;
  readonly idempotencyKey: string;
}

/** Creates tools that record their effects. */
function createTools(effects: Effect[]): AgentTool[] {
  const execute = (tool: string) => async (args: JsonObject, context: ToolContext) => {
    await new Promise((resolve) => setTimeout(resolve, args["key"] === "slow" ? 8 : 1));
    effects.push({ tool, key: args["key"], idempotencyKey: context.idempotencyKey });
    return `${tool} ${args["key"]}`;
  };
  const define = (name: string, options: Partial<AgentTool>) =>
    defineTool({ name, description: name, parameters, execute: execute(name), ...options });
  return [
    define("pay", { sideEffect: "once" }),
    define("put", { sideEffect: "idempotent", concurrencyKey: () => "put" }),
    define("read", { readOnly: true }),
    define("alone", { sideEffect: "idempotent", sequential: true }),
  ];
}

interface Execution {
  readonly journal: ArrayJournal;
  readonly outcome: DurableOutcome;
  readonly effects: readonly Effect[];
  readonly events: readonly AgentEvent[];
}

/** Options for {@linkcode execute}. */
interface ExecuteOptions extends Partial<AgentOptions> {
  readonly script: readonly ScriptedStep[];
  readonly records?: readonly RecordedStep[];
  readonly crashAt?: (name: string) => boolean;
  /** Called with the journal when the run begins. */
  readonly onStart?: (journal: ArrayJournal, agent: Agent) => void;
  readonly prompt?: (agent: Agent, steps: DurableSteps) => Promise<AgentResult>;
}

/** Runs an agent until it ends. */
async function execute(
  { script, records, crashAt, onStart, prompt, ...options }: ExecuteOptions,
): Promise<Execution> {
  const journal = new ArrayJournal(records, crashAt);
  const effects: Effect[] = [];
  const events: AgentEvent[] = [];
  const calls = countModelCalls(records);
  const streamFn = scriptedStream(script.slice(calls));
  const workflow = async (steps: DurableSteps): Promise<unknown> => {
    const agent = durableAgent({
      model: "test/model",
      streamFn,
      tools: createTools(effects),
      ...options,
    }, steps);
    agent.subscribe((event) => void events.push(structuredClone(event)));
    onStart?.(journal, agent);
    const result = prompt ? await prompt(agent, steps) : await agent.prompt("Work");
    return { messages: result.messages, stopReason: result.stopReason, text: result.text };
  };
  const outcome = await executeRun(journal, { workflow, input: null });
  return { journal, outcome, effects, events };
}

function countModelCalls(records: readonly RecordedStep[] = []): number {
  return records.filter(({ name }) => /model call \d+$/.test(name)).length;
}

/** Asserts that a run has the same outcome wherever it is interrupted, and that no effect of `pay` is repeated. */
async function assertReplays(options: ExecuteOptions): Promise<Execution> {
  const full = await execute(options);
  const { records } = full.journal;
  for (let count = 0; count <= records.length; count++) {
    const continued = await execute({ ...options, records: records.slice(0, count) });
    const lost = findUnknown(records.slice(0, count));
    if (lost.length > 0) continue; // A call whose intent alone was recorded; tested below.
    const title = `after ${count} steps`;
    assertEquals(withoutTimes(continued.outcome), withoutTimes(full.outcome), title);
    const names = continued.journal.executed.toSorted();
    assertEquals(names, records.slice(count).map(({ name }) => name).toSorted(), title);
    for (const { name } of records.slice(0, count)) {
      assert(!continued.journal.executed.includes(name), `${name} was executed again ${title}`);
    }
  }
  return full;
}

/** Returns the intents whose calls are not recorded. */
function findUnknown(records: readonly RecordedStep[]): string[] {
  const names = new Set(records.map(({ name }) => name));
  return [...names].filter((name) =>
    name.endsWith(": intent") && !names.has(name.replace(": intent", ""))
  );
}

function withoutTimes(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, member) => name === "timestamp" ? undefined : member),
  );
}

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

Deno.test("durableAgent(): steering cancels the running calls, at the same point of every replay", async () => {
  let onStart = () => {};
  const slow = defineTool({
    name: "slow",
    description: "Waits for its signal.",
    parameters,
    sideEffect: "idempotent",
    execute: async (_args, { signal }) => {
      onStart();
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve());
      });
      return "too late";
    },
  });
  const full = await assertReplays({
    script: [
      reply([
        toolCall("read", { key: "1" }, { id: "a" }),
        toolCall("slow", {}, { id: "b" }),
        toolCall("slow", {}, { id: "c" }),
      ]),
      reply("I stop."),
    ],
    tools: [...createTools([]), slow],
    onStart: (journal) => {
      let starts = 0;
      const steer = () => {
        const names = journal.records.map(({ name }) => name);
        const isRead = names.includes("turn 1, call 1 of read");
        const isSteered = names.some((name) => name.endsWith("of slow")) || journal.inbox.last > 0;
        if (starts > 0 && isRead && !isSteered) {
          journal.send({ type: "steer", message: userMessage("Stop", 5) });
        }
      };
      journal.onRecord = steer;
      onStart = () => {
        starts++;
        steer();
      };
    },
  });
  const output = JSON.stringify(full.outcome);
  assertEquals(output.split("user requested steering interrupt").length - 1, 2);
  assertStringIncludes(output, '"Stop"');
  assertStringIncludes(output, "read 1");
});

Deno.test("durableAgent(): an abort during a reply keeps its text, in every replay", async () => {
  const full = await execute({
    script: [hang({ after: "Half a sen" })],
    onStart: (journal, agent) =>
      void agent.subscribe((event) => {
        if (event.type === "message_update" && JSON.stringify(event).includes("sen")) {
          journal.send({ type: "abort", reason: "enough" });
        }
      }),
  });
  assertEquals(full.outcome.type, "aborted");
  assertStringIncludes(JSON.stringify(full.outcome), "Half a sen");
  const replayed = await execute({ script: [], records: full.journal.records });
  assertEquals(withoutTimes(replayed.outcome), withoutTimes(full.outcome));
});

Deno.test("durableAgent(): an abort during a tool call ends the run, and the call is answered", async () => {
  const started = createDeferred<void>();
  const stuck = defineTool({
    name: "stuck",
    description: "Ignores its signal.",
    parameters,
    execute: () => {
      started.resolve();
      return new Promise<string>(() => {});
    },
  });
  const full = await execute({
    script: [reply([toolCall("stuck", {}, { id: "a" })])],
    tools: [stuck],
    onStart: (journal) => void started.promise.then(() => journal.send({ type: "abort" })),
  });
  assertEquals(full.outcome.type, "aborted");
  assertStringIncludes(JSON.stringify(full.outcome), "tool call cancelled: run aborted");
  const replayed = await execute({ script: [], records: full.journal.records, tools: [stuck] });
  assertEquals(withoutTimes(replayed.outcome), withoutTimes(full.outcome));
});

Deno.test("durableAgent(): a tool that exceeds its time is recorded before the next model call", async () => {
  const stuck = defineTool({
    name: "stuck",
    description: "Takes too long.",
    parameters,
    timeoutMs: 5,
    execute: () => new Promise<string>(() => {}),
  });
  const full = await assertReplays({
    script: [reply([toolCall("stuck", {}, { id: "a" })]), reply("It takes too long.")],
    tools: [stuck],
  });
  assertStringIncludes(JSON.stringify(full.outcome), "timed out after 5 ms");
  assertEquals(full.journal.records.map(({ name }) => name), [
    "turn 1, model call 1",
    "turn 1, call 1 of stuck: intent",
    "turn 1, call 1 of stuck",
    "turn 2, model call 1",
  ]);
});

Deno.test("durableAgent(): a pending approval waits for the decision, in another process too", async () => {
  const script = [reply([toolCall("pay", { key: "1" }, { id: "a" })]), reply("Paid.")];
  const approve = () => ({ type: "pending" }) as const;
  const journals: ArrayJournal[] = [];
  const waiting = execute({
    script,
    approve,
    crashAt: (name) => name.endsWith("decision"),
    onStart: (journal) => {
      journals.push(journal);
      setTimeout(() => journal.send({ type: "signal", name: "approval x", data: true }), 5);
      setTimeout(() => journal.send({ type: "signal", name: "approval a", data: true }), 10);
    },
  });
  assert(await waiting.catch((error) => error) instanceof DetachedError);
  const records = journals[0]?.records ?? [];
  assertEquals(records.at(-1)?.name, "turn 1, approval 1 of pay");
  const decided = await execute({
    script,
    approve,
    records,
    onStart: (journal) =>
      journal.send({ type: "signal", name: "approval a", data: { type: "denied", reason: "no" } }),
  });
  assertEquals(decided.effects, []);
  assertStringIncludes(JSON.stringify(decided.outcome), "rejected by approval: no");
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
