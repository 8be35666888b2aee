import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { AgentEvent } from "../core/events/event.ts";
import type { JsonObject } from "../core/json/json.ts";
import { textResult } from "../core/messages/tool_result.ts";
import type { StreamFn } from "../core/streams/stream.ts";
import type { AgentTool } from "../core/tools/tool.ts";
import { type Chaos, chaos, type ChaosOptions } from "./chaos.ts";
import type { ChaosFault } from "./chaos_plan.ts";
import { checkEvents } from "./event_grammar.ts";
import { fakeTool } from "./fake_tool.ts";
import { text, toolCall } from "./messages.ts";
import { reply } from "./script.ts";
import { scriptedStream } from "./scripted_stream.ts";

const SCRIPT = () =>
  scriptedStream([
    reply([text("Two calls."), toolCall("read", { path: "a" }), toolCall("write", { path: "b" })]),
    reply([toolCall("read", { path: "b" })]),
    reply("Done"),
  ]);

interface RunOptions {
  readonly streamFn?: StreamFn;
  readonly tools?: readonly AgentTool[];
  readonly prompts?: number;
}

/** Runs an agent with faults, checks the order of its events, and returns them. */
async function run(
  options: ChaosOptions,
  { streamFn = SCRIPT(), tools = createTools(), prompts = 1 }: RunOptions = {},
): Promise<{ faults: Chaos; agent: Agent; events: AgentEvent[] }> {
  const faults = chaos({ delayMs: 0, now: () => 0, ...options });
  let ids = 0;
  const agent = new Agent({
    model: "test/model",
    streamFn: faults.wrapStreamFn(streamFn),
    tools: tools.map(faults.wrapTool),
    now: faults.now,
    newId: (kind) => `${kind}_${++ids}`,
    sleep: () => Promise.resolve(),
    retry: ({ attempt }) => attempt < 8 ? 0 : null,
    toolTimeoutMs: Infinity,
  });
  const events: AgentEvent[] = [];
  for (let prompt = 0; prompt < prompts; prompt++) {
    for await (const event of agent.promptStream("Go")) events.push(event);
  }
  await checkEvents(events);
  return { faults, agent, events };
}

function createTools(): AgentTool[] {
  return ["read", "write"].map((name) =>
    fakeTool({ name, result: ({ path }) => textResult(`${name} ${path}`) })
  );
}

/** Waits for a task, after all pending microtasks. */
const flushTasks = () => new Promise((resolve) => setTimeout(resolve));

/** Runs with one kind of fault, which is always injected. */
const runWith = (fault: ChaosFault, options: RunOptions = {}, seed = 1) =>
  run({ seed, rate: 1, faults: [fault] }, options);

const results = (agent: Agent) =>
  agent.state.messages.flatMap((message) =>
    message.role === "tool_result"
      ? message.content.map((block) => block.type === "text" ? block.text : "")
      : []
  );

Deno.test("chaos: without faults nothing changes", async () => {
  const { faults, agent } = await run({ seed: 1, rate: 0 });
  assertEquals(faults.injected, []);
  assertEquals(results(agent), ["read a", "write b", "read b"]);
});

Deno.test("chaos: the same seed repeats the run exactly, and other seeds differ", async () => {
  const logs = new Set<string>();
  for (let seed = 1; seed <= 20; seed++) {
    const [first, second] = [await run({ seed, rate: 0.4 }), await run({ seed, rate: 0.4 })];
    assertEquals(JSON.stringify(first.events), JSON.stringify(second.events));
    assertEquals(first.faults.injected, second.faults.injected);
    logs.add(JSON.stringify(first.events));
  }
  assert(logs.size > 15);
});

const SEEDS = Deno.env.get("SWINK_PROVE") === "1" ? 200 : 60;

Deno.test("chaos: every run of many seeds ends, with a valid order of events and every fault", async () => {
  const seen = new Set<ChaosFault>();
  let completed = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { faults, agent, events } = await run({ seed, rate: 0.5 });
    for (const { fault } of faults.injected) seen.add(fault);
    assertEquals(events.at(-1)?.type, "agent_end");
    assertEquals(agent.state.isRunning, false);
    const last = agent.state.messages.at(-1);
    if (last?.role === "assistant" && last.stopReason === "stop") completed++;
  }
  assertEquals(seen.size, 9);
  assert(completed > SEEDS / 2, `${completed} runs completed`);
});

Deno.test("chaos: the number of faults follows the rate", async () => {
  let injected = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    injected += (await run({ seed, rate: 0.2, faults: ["slow_tool"] })).faults.injected.length;
  }
  const calls = 3 * SEEDS;
  assert(injected > 0.13 * calls && injected < 0.27 * calls, `${injected} of ${calls}`);
});

Deno.test("chaos: a throttled call is retried, and the script stays in step", async () => {
  const { agent, events } = await run({ seed: 5, rate: 0.4, faults: ["throttle"] });
  assertEquals(events.some(({ type }) => type === "retry"), true);
  assertEquals(results(agent), ["read a", "write b", "read b"]);
});

Deno.test("chaos: a reply that was cut answers the repeated request", async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const { agent } = await run({ seed, rate: 0.4, faults: ["cut_stream"] });
    assertEquals(results(agent), ["read a", "write b", "read b"]);
  }
});

Deno.test("chaos: malformed arguments are refused, or were repaired", async () => {
  const outcomes = new Set<boolean>();
  for (let seed = 1; seed <= 30; seed++) {
    const { agent } = await runWith("malformed_arguments", {}, seed);
    for (const message of agent.state.messages) {
      if (message.role === "tool_result") outcomes.add(message.isError);
    }
  }
  assertEquals(outcomes.has(true), true);
});

Deno.test("chaos: malformed arguments differ from those of the model, also if it sends none", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const streamFn = scriptedStream([reply([toolCall("read", {})]), reply("Done")]);
    const { faults, events } = await runWith("malformed_arguments", { streamFn }, seed);
    const deltas = events.flatMap((event) =>
      event.type === "message_update" && event.delta.type === "tool_call_delta"
        ? [event.delta.delta]
        : []
    );
    assertEquals(faults.injected.length, 1);
    assertNotEquals(deltas.join("").trim() || "{}", "{}", `seed ${seed}`);
  }
});

Deno.test("chaos: oversized arguments have a property of 200,000 characters", async () => {
  const tools = createTools().map((tool) => ({
    ...tool,
    parameters: { type: "object", additionalProperties: false, properties: { path: {} } },
  }));
  const { agent } = await runWith("oversized_arguments", { tools });
  const long = agent.state.messages.flatMap((message) =>
    message.role === "assistant"
      ? message.content.filter((block) =>
        block.type === "tool_call" && String(block.arguments["chaos"]).length === 200_000
      )
      : []
  );
  assertEquals(long.length, 2);
  assertEquals(results(agent).filter((result) => result.includes("chaos")).length, 2);
});

Deno.test("chaos: the agent keeps calls with duplicate ids apart", async () => {
  const { faults, agent } = await runWith("duplicate_ids");
  assertEquals(faults.injected.length, 2);
  assertEquals(results(agent), ["read a", "write b", "read b"]);
});

Deno.test("chaos: tools are slow, fail or return wrong results", async () => {
  const waits: number[] = [];
  const slow = chaos({
    seed: 1,
    rate: 1,
    faults: ["slow_tool"],
    delayMs: 70,
    sleep: (milliseconds) => Promise.resolve(void waits.push(milliseconds)),
  });
  const [read] = createTools().map(slow.wrapTool);
  const streamFn = scriptedStream([reply([toolCall("read", { path: "a" })]), reply("Done")]);
  await new Agent({ model: "test/model", streamFn, tools: read ? [read] : [] }).prompt("Go");
  assertEquals(waits, [70]);

  const failing = await runWith("failing_tool");
  assertEquals(new Set(results(failing.agent)).size, 1);
  const lies = new Set<string>();
  for (let seed = 1; seed <= 40; seed++) {
    results((await runWith("lying_tool", {}, seed)).agent).forEach((result) => lies.add(result));
  }
  // A success that never was, nothing, a half, and the result of the previous call.
  for (const lie of ["ok", "", "rea", "read a"]) assert(lies.has(lie), lie);
});

Deno.test("chaos: wrong results do not depend on the order in which calls at the same time end", async () => {
  const runInOrder = async (order: readonly string[], seed: number) => {
    const read: AgentTool = {
      ...fakeTool({ name: "read" }),
      execute: async ({ path }) => {
        for (let task = 0; task <= order.indexOf(String(path)); task++) await flushTasks();
        return textResult(`read ${path}`);
      },
    };
    const streamFn = scriptedStream([
      reply([toolCall("read", { path: "a" }), toolCall("read", { path: "b" })]),
      reply([toolCall("read", { path: "c" })]),
      reply("Done"),
    ]);
    const options = { seed, rate: 0.5, faults: ["lying_tool"] } as const;
    return results((await run(options, { streamFn, tools: [read] })).agent);
  };
  for (let seed = 1; seed <= SEEDS / 2; seed++) {
    const [first, second] = [["a", "b"], ["b", "a"]].map((order) => runInOrder(order, seed));
    assertEquals(await first, await second, `seed ${seed}`);
  }
});

Deno.test("chaos: the clock jumps before model calls", async () => {
  const { faults } = await runWith("clock_jump");
  assertEquals(faults.injected.length, 3);
  assert(Math.abs(faults.now()) > 1_000);
  assert(Math.abs(faults.now()) <= 86_400_000);
});

Deno.test("chaos: keeps what the stream function knows about its models", () => {
  const streamFn = scriptedStream([], { contextWindow: () => 123 });
  const wrapped = chaos({ seed: 1 }).wrapStreamFn(streamFn);
  const model = { provider: "test", modelId: "model", thinkingLevel: "off" } as const;
  assertEquals(wrapped.contextWindow?.(model), 123);
});

Deno.test("chaos: wraps a tool that is an instance of a class", async () => {
  class Read {
    readonly name = "read";
    readonly description = "Reads a file.";
    get parameters() {
      return { type: "object" };
    }
    execute({ path }: JsonObject) {
      return Promise.resolve(`read ${path}`);
    }
  }
  const { agent } = await run({ seed: 1, rate: 0 }, { tools: [new Read()] });
  assertEquals(results(agent).filter((text) => text.startsWith("read")), ["read a", "read b"]);
});

Deno.test("chaos: rejects invalid options", () => {
  for (const options of [{ seed: NaN }, { seed: 1, rate: 2 }, { seed: 1, delayMs: -1 }]) {
    assertThrows(() => chaos(options), BadRequestError);
  }
  // Options from untyped code.
  const unknown = JSON.parse('{ "seed": 1, "faults": ["throtle"] }');
  assertThrows(() => chaos(unknown), BadRequestError, "throtle");
  const single = JSON.parse('{ "seed": 1, "faults": "throttle" }');
  assertThrows(() => chaos(single), BadRequestError, "faults must be an array");
  const misspelt = JSON.parse('{ "seed": 1, "rates": 1 }');
  assertThrows(() => chaos(misspelt), BadRequestError, "rates");
});
