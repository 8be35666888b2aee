import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { settle } from "../../tests/conformance/ports.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { AbortedError, BadRequestError, NetworkError } from "../core/errors/errors.ts";
import { textResult } from "../core/messages/tool_result.ts";
import { type Usage, zeroCost, zeroUsage } from "../core/models/usage.ts";
import type { AssistantMessageEvent, StreamFn } from "../core/streams/stream.ts";
import { defineTool } from "../core/tools/tool.ts";
import {
  fail,
  fakeTool,
  hang,
  ManualClock,
  reply,
  scriptedStream,
  toolCall,
} from "../testing/mod.ts";
import type { ScriptedStep } from "../testing/script.ts";
import { sharedBudget, type SharedBudgetOptions } from "./mod.ts";

/** 15 tokens, of which 10 are input. */
const USAGE: Usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, total: 15 };
/** One unit of money per input token. */
const PRICES = { "test/model": { input: 1_000_000, output: 0 } };

const work = fakeTool({ name: "work" });
const callWork = (): ScriptedStep => reply([toolCall("work")], { usage: USAGE });
const delegate = (): ScriptedStep =>
  reply([toolCall("delegate", { prompt: "Help" })], { usage: USAGE });
const answer = (): ScriptedStep => reply("Done", { usage: USAGE });

/** Creates a budget and a function that creates agents which share it. */
function createTeam(options: SharedBudgetOptions) {
  const clock = new ManualClock();
  const policy = sharedBudget({ now: clock.now, ...options });
  const { now, sleep } = clock;
  const createAgent = (steps: readonly ScriptedStep[], own: Partial<AgentOptions> = {}): Agent =>
    new Agent({
      model: "test/model",
      streamFn: scriptedStream(steps),
      prices: PRICES,
      tools: [work],
      policies: [policy],
      now,
      sleep,
      ...own,
    });
  return { policy, clock, createAgent };
}

/** Streams a text of 100 characters, and the events after `finishReply()`. */
function streamSlowly(events: readonly AssistantMessageEvent[]) {
  let finishReply = (): void => {};
  const finished = new Promise<void>((resolve) => finishReply = resolve);
  const streamFn: StreamFn = async function* () {
    yield { type: "start" };
    yield { type: "text_start", contentIndex: 0 };
    yield { type: "text_delta", contentIndex: 0, delta: "word ".repeat(20) };
    await finished;
    yield { type: "text_end", contentIndex: 0 };
    yield* events;
  };
  return { streamFn, finishReply };
}

/** A text of 100 characters, about 25 tokens. */
const WORDS = "word ".repeat(20);

/** Retries without a delay. */
const AT_ONCE: Partial<AgentOptions> = { retry: () => 0, sleep: () => Promise.resolve() };

const TOOL = { name: "delegate", description: "Delegates a task." };

Deno.test("sharedBudget() adds up consecutive runs of several agents, and stops the next one", async () => {
  const { policy, createAgent } = createTeam({ tokens: 45 });
  const first = createAgent([answer(), answer()]);
  const second = createAgent([answer()]);
  for (const agent of [first, second, first]) {
    assertEquals((await agent.prompt("Go")).stoppedBy, undefined);
  }
  const { usage, cost } = policy.spent;
  assertEquals([usage, cost.total], [{ ...zeroUsage(), input: 30, output: 15, total: 45 }, 30]);
  const { turns, stoppedBy } = await second.prompt("Go");
  assertEquals([turns, stoppedBy], [0, {
    policy: "shared_budget",
    reason: "The run reached the limit of 45 tokens",
  }]);
});

Deno.test("sharedBudget() counts each reply once when the agent and its run both have it", async () => {
  const { policy, createAgent } = createTeam({ tokens: 100 });
  const agent = createAgent([callWork(), answer()]);
  const result = await agent.prompt("Go", { policies: [policy, policy] });
  assertEquals([result.usage.total, policy.spent.usage.total], [30, 30]);
});

Deno.test("sharedBudget() adds up additional token counts, without those that another agent has counted", async () => {
  const { policy, createAgent } = createTeam({ tokens: 1000 });
  const usage = { ...USAGE, extra: { reasoning: 5 } };
  const helper = createAgent([reply("Done", { usage })]);
  const call = reply([toolCall("delegate", { prompt: "Help" })], { usage });
  const agent = createAgent([call, reply("Done", { usage })], { tools: [helper.asTool(TOOL)] });
  await agent.prompt("Go");
  assertEquals([policy.spent.usage.total, policy.spent.usage.extra], [45, { reasoning: 15 }]);
});

Deno.test("sharedBudget() stops all runs when their streaming replies reach its limit together", async () => {
  const { policy, clock, createAgent } = createTeam({ tokens: 50 });
  const streaming = () => hang({ after: "word ".repeat(20) });
  const running = [1, 2].map(() => createAgent([streaming()]).prompt("Go"));
  for (let check = 0; check < 2; check++) {
    await settle();
    clock.advance(250);
  }
  const results = await Promise.all(running);
  assertEquals(results.map(({ stoppedBy }) => stoppedBy?.policy), [
    "shared_budget",
    "shared_budget",
  ]);
  // The scripted model reports no usage for an aborted reply, so that the estimates count.
  assertEquals(policy.spent.usage.total, 50);
});

Deno.test("sharedBudget() does not stop a streaming reply below its limit", async () => {
  const { clock, createAgent } = createTeam({ tokens: 51 });
  const streaming = () => hang({ after: "word ".repeat(20) });
  const agents = [createAgent([streaming()]), createAgent([streaming()])];
  const running = agents.map((agent) => agent.prompt("Go"));
  await settle();
  clock.advance(250);
  await settle();
  agents.forEach((agent) => agent.abort());
  const results = await Promise.all(running);
  assertEquals(results.map(({ stoppedBy }) => stoppedBy), [undefined, undefined]);
});

Deno.test("sharedBudget() replaces the estimate of a reply by its usage", async () => {
  const { clock, createAgent } = createTeam({ tokens: 50 });
  const { streamFn, finishReply } = streamSlowly([
    { type: "tool_call_start", contentIndex: 1, id: "c1", name: "work" },
    { type: "tool_call_end", contentIndex: 1 },
    { type: "done", stopReason: "tool_use", usage: USAGE },
  ]);
  const tools = [fakeTool({ name: "work", delayMs: Infinity })];
  const working = createAgent([], { streamFn, tools });
  const running = working.prompt("Go");
  await settle();
  clock.advance(250); // The estimate is 25 tokens.
  finishReply();
  await settle();
  const other = createAgent([answer(), answer()]);
  assertEquals((await other.prompt("Go")).stoppedBy, undefined);
  assertEquals((await other.prompt("Go")).stoppedBy, undefined);
  working.abort();
  await running;
});

Deno.test("sharedBudget() counts no estimate for a finished reply without usage", async () => {
  const { policy, clock, createAgent } = createTeam({ tokens: 50 });
  const { streamFn, finishReply } = streamSlowly([
    { type: "done", stopReason: "stop", usage: zeroUsage() },
  ]);
  const running = createAgent([], { streamFn }).prompt("Go");
  await settle();
  clock.advance(250);
  finishReply();
  await running;
  assertEquals(policy.spent.usage.total, 0);
});

Deno.test("sharedBudget() counts the usage that a provider reports for an aborted reply", async () => {
  const { policy, clock, createAgent } = createTeam({ tokens: 50 });
  const { streamFn, finishReply } = streamSlowly([
    { type: "error", stopReason: "aborted", error: new AbortedError(), usage: USAGE },
  ]);
  const running = createAgent([], { streamFn }).prompt("Go");
  await settle();
  clock.advance(250);
  finishReply();
  assertEquals((await running).stopReason, "aborted");
  assertEquals(policy.spent.usage.total, 15);
});

Deno.test("sharedBudget() counts the earlier attempts of a turn, and the estimate of the one that it aborts", async () => {
  const { policy, clock, createAgent } = createTeam({ tokens: 40 });
  const steps = [fail("network_error", "Down", { usage: USAGE }), hang({ after: WORDS })];
  const running = createAgent(steps, { retry: () => 0 }).prompt("Go");
  for (const step of [0, 0, 250]) {
    clock.advance(step);
    await settle();
  }
  assertEquals((await running).stoppedBy?.policy, "shared_budget");
  assertEquals(policy.spent.usage.total, 40);
});

Deno.test("sharedBudget() counts consecutive runs with the same id separately", async () => {
  const { policy, createAgent } = createTeam({ tokens: 1000 });
  const agent = createAgent([answer(), answer()], { newId: () => "same" });
  await agent.prompt("Go");
  await agent.prompt("Go");
  assertEquals(policy.spent.usage.total, 30);
});

Deno.test("sharedBudget() counts the model calls of an agent that is a tool once", async () => {
  const { policy, createAgent } = createTeam({ tokens: 1000 });
  const helper = createAgent([answer()]);
  const agent = createAgent([delegate(), answer()], { tools: [helper.asTool(TOOL)] });
  const { usage, cost } = await agent.prompt("Go");
  assertEquals([usage.total, cost.total], [45, 30]);
  assertEquals([policy.spent.usage.total, policy.spent.cost.total], [45, 30]);
});

Deno.test("sharedBudget() counts each model call of nested agents once", async () => {
  const { policy, createAgent } = createTeam({ tokens: 1000 });
  const expert = createAgent([answer()]);
  const helper = createAgent([delegate(), answer()], { tools: [expert.asTool(TOOL)] });
  const agent = createAgent([delegate(), answer()], { tools: [helper.asTool(TOOL)] });
  assertEquals((await agent.prompt("Go")).usage.total, 75);
  assertEquals(policy.spent.usage.total, 75);
});

Deno.test("sharedBudget() counts what an agent without the budget reports as a tool", async () => {
  const { policy, createAgent } = createTeam({ tokens: 1000 });
  const helper = createAgent([answer()], { policies: [] });
  const agent = createAgent([delegate(), answer()], { tools: [helper.asTool(TOOL)] });
  await agent.prompt("Go");
  assertEquals([policy.spent.usage.total, policy.spent.cost.total], [45, 30]);
});

Deno.test("sharedBudget() counts the other tools of a batch with an agent that has the budget", async () => {
  const { policy, createAgent } = createTeam({ tokens: 1000 });
  const usage = { ...zeroUsage(), total: 100 };
  const cost = { ...zeroCost(), total: 7 };
  const paid = fakeTool({ name: "paid", result: { content: [], usage, cost } });
  const helpers = ["first", "second"].map((name) =>
    createAgent([answer()]).asTool({ ...TOOL, name })
  );
  const calls = ["first", "paid", "second"].map((name) => toolCall(name, { prompt: "Help" }));
  const agent = createAgent([reply(calls, { usage: USAGE }), answer()], {
    tools: [...helpers, paid],
  });
  await agent.prompt("Go");
  assertEquals([policy.spent.usage.total, policy.spent.cost.total], [160, 47]);
});

Deno.test("sharedBudget() ignores the usage that a tool reports if `countedBy` names the budget", async () => {
  const { policy, createAgent } = createTeam({ tokens: 1000 });
  const helper = createAgent([answer()]);
  const tool = defineTool({
    ...TOOL,
    parameters: { type: "object" },
    countedBy: [policy],
    execute: async () => {
      const { text, usage, cost } = await helper.prompt("Help");
      return { ...textResult(text), usage, cost };
    },
  });
  await createAgent([delegate(), answer()], { tools: [tool] }).prompt("Go");
  assertEquals(policy.spent.usage.total, 45);
});

Deno.test("sharedBudget() counts an agent that was cancelled as a tool", async () => {
  const { policy, clock, createAgent } = createTeam({ tokens: 1000 });
  const helper = createAgent([callWork(), hang()]);
  const tool = helper.asTool({ ...TOOL, timeoutMs: 1000 });
  const agent = createAgent([delegate(), answer()], { tools: [tool] });
  const running = agent.prompt("Go");
  await settle();
  clock.advance(1000);
  await settle();
  clock.advance(100);
  assertEquals((await running).usage.total, 45);
  assertEquals(policy.spent.usage.total, 45);
});

Deno.test("sharedBudget() counts work in the background once, if its agent has the budget", async () => {
  const { policy, createAgent } = createTeam({ tokens: 1000 });
  const tool = defineTool({
    ...TOOL,
    parameters: { type: "object" },
    countedBy: [policy],
    execute: (_args, { run }) => {
      run.background(async ({ onEvent }) => {
        const stream = createAgent([callWork(), answer()]).promptStream("Help");
        for await (const event of stream) await onEvent(event);
        return "Report";
      });
      return "started";
    },
  });
  const agent = createAgent([delegate(), answer(), answer()], { tools: [tool] });
  const { usage, lateSpending } = await agent.prompt("Go");
  assertEquals(lateSpending?.map(({ usage, cost }) => [usage.total, cost.total]), [[30, 20]]);
  assertEquals([usage.total, policy.spent.usage.total], [75, 75]);
  assertEquals(policy.spent.cost.total, 50);
});

Deno.test("sharedBudget() counts work in the background whose agent does not have the budget", async () => {
  const { policy, createAgent } = createTeam({ tokens: 1000 });
  const tool = defineTool({
    ...TOOL,
    parameters: { type: "object" },
    execute: (_args, { run }) => {
      run.background(async ({ onEvent }) => {
        const stream = createAgent([answer()], { policies: [] }).promptStream("Help");
        for await (const event of stream) await onEvent(event);
        return "Report";
      });
      return "started";
    },
  });
  await createAgent([delegate(), answer(), answer()], { tools: [tool] }).prompt("Go");
  assertEquals(policy.spent.usage.total, 60);
});

Deno.test("sharedBudget() counts the reply of the calling agent before its tools run", async () => {
  const { policy, createAgent } = createTeam({ tokens: 15 });
  const seen: number[] = [];
  const helper = createAgent([answer()], {
    policies: [{ name: "watch", preTurn: () => void seen.push(policy.spent.usage.total) }, policy],
  });
  const agent = createAgent([delegate()], { tools: [helper.asTool(TOOL)] });
  const { turns, stoppedBy, messages } = await agent.prompt("Go");
  assertEquals([seen, turns, stoppedBy?.policy], [[15], 1, "shared_budget"]);
  assertStringIncludes(JSON.stringify(messages.at(-1)), "The run reached the limit of 15 tokens");
});

Deno.test("sharedBudget() counts the tokens of a summary", async () => {
  const { policy, createAgent } = createTeam({ tokens: 1000 });
  const report = {
    ...{ droppedCount: 0, tokensBefore: 2, tokensAfter: 1, droppedMessages: [] },
    usage: { ...zeroUsage(), total: 100 },
  };
  const agent = createAgent([callWork(), answer()], {
    transformContext: (messages) => ({ messages, report }),
  });
  assertEquals((await agent.prompt("Go")).usage.total, 230);
  assertEquals(policy.spent.usage.total, 230);
});

Deno.test("sharedBudget() starts its time with the first run and includes pauses", async () => {
  const { policy, clock, createAgent } = createTeam({ elapsedMs: 1000 });
  clock.advance(5000);
  assertEquals(policy.spent.elapsedMs, 0);
  assertEquals((await createAgent([answer()]).prompt("Go")).stoppedBy, undefined);
  clock.advance(1000);
  assertEquals(policy.spent.elapsedMs, 1000);
  assertEquals((await createAgent([]).prompt("Go")).stoppedBy, {
    policy: "shared_budget",
    reason: "The run reached the time limit of 1000 ms",
  });
});

Deno.test("sharedBudget() cancels the tools of all runs at its time limit", async () => {
  const { clock, createAgent } = createTeam({ elapsedMs: 250 });
  const tools = [fakeTool({ name: "work", delayMs: Infinity })];
  const running = [1, 2].map(() => createAgent([callWork()], { tools }).prompt("Go"));
  await settle();
  clock.advance(250);
  await settle();
  clock.advance(100);
  const results = await Promise.all(running);
  assertEquals(results.map(({ turns, stoppedBy }) => [turns, stoppedBy?.policy]), [
    [1, "shared_budget"],
    [1, "shared_budget"],
  ]);
});

Deno.test("sharedBudget() does not cancel tools when another run reaches the token limit", async () => {
  const { clock, createAgent } = createTeam({ tokens: 50 });
  let finishWork = (_result: string): void => {};
  const result = () => new Promise<string>((resolve) => finishWork = resolve);
  const working = createAgent([callWork()], { tools: [fakeTool({ name: "work", result })] });
  const running = working.prompt("Go");
  await settle();
  await createAgent([reply("Done", { usage: { ...USAGE, total: 100 } })]).prompt("Go");
  clock.advance(250);
  await settle();
  finishWork("finished");
  const { messages, stoppedBy } = await running;
  assertStringIncludes(JSON.stringify(messages.at(-1)), "finished");
  assertEquals(stoppedBy?.policy, "shared_budget");
});

Deno.test("sharedBudget(): reset() sets spending and time to 0", async () => {
  const { policy, clock, createAgent } = createTeam({ tokens: 15, elapsedMs: 1000 });
  const agent = createAgent([answer(), answer()]);
  await agent.prompt("Go");
  clock.advance(2000);
  policy.reset();
  const none = { usage: zeroUsage(), cost: zeroCost() };
  const reserved = { ...none, toolMs: 0 };
  assertEquals(policy.spent, { ...none, elapsedMs: 0, toolMs: 0, reserved });
  // The time starts with the next run.
  clock.advance(500);
  assertEquals(policy.spent.elapsedMs, 0);
  assertEquals((await agent.prompt("Go")).stoppedBy, undefined);
  assertEquals([policy.spent.usage.total, policy.spent.elapsedMs], [15, 0]);
});

Deno.test("sharedBudget(): reset() during a run keeps only what the run spends afterwards", async () => {
  const { policy, createAgent } = createTeam({ tokens: 1000 });
  const reset = fakeTool({ name: "work", result: () => (policy.reset(), "ok") });
  await createAgent([callWork(), answer()], { tools: [reset] }).prompt("Go");
  assertEquals([policy.spent.usage.total, policy.spent.cost.total], [15, 10]);
});

Deno.test("sharedBudget() stops every run once a price is unknown", async () => {
  const { policy, createAgent } = createTeam({ cost: 1000 });
  const first = await createAgent([answer()], { prices: {} }).prompt("Go");
  const second = await createAgent([answer()]).prompt("Go");
  assertEquals([first.turns, second.turns, policy.spent.cost.total], [1, 0, null]);
  for (const { stoppedBy } of [first, second]) {
    assertStringIncludes(stoppedBy?.reason ?? "", "price unknown");
  }
});

for (const [unpriced, cost] of [["helper", 20], ["caller", 10]] as const) {
  Deno.test(`sharedBudget() with \`unknownPrice: "ignore"\` counts what has a price when that of a ${unpriced} is unknown`, async () => {
    const { policy, createAgent } = createTeam({ cost: 20, unknownPrice: "ignore" });
    const withPrice = (name: string) => name === unpriced ? { prices: {} } : {};
    const helper = createAgent([answer()], withPrice("helper"));
    const tools = [helper.asTool(TOOL)];
    const agent = createAgent([delegate(), answer()], { tools, ...withPrice("caller") });
    const result = await agent.prompt("Go");
    assertEquals([result.cost.total, result.stoppedBy, policy.spent.cost.total], [
      null,
      undefined,
      cost,
    ]);
  });
}

Deno.test("sharedBudget() throws for an invalid option", () => {
  assertThrows(() => sharedBudget({ tokens: Number.NaN }), BadRequestError, "tokens must be");
});

Deno.test("sharedBudget() counts an attempt that failed without usage with its estimate, once", async () => {
  const { policy, createAgent } = createTeam({ tokens: 1_000 });
  const broken = () => fail("network_error", "Connection reset", { after: WORDS });
  const agent = createAgent([broken(), broken(), answer()], AT_ONCE);
  await agent.prompt("Go");
  assertEquals(policy.spent.usage.total, 25 + 25 + 15);
});

Deno.test("sharedBudget() stops retries whose failed attempts reach its limit together", async () => {
  const { policy, createAgent } = createTeam({ tokens: 50 });
  const broken = () => fail("network_error", "Connection reset", { after: WORDS });
  const agent = createAgent([broken(), broken(), answer()], AT_ONCE);
  const { stoppedBy } = await agent.prompt("Go");
  assertEquals(stoppedBy?.policy, "shared_budget");
  assertEquals(policy.spent.usage.total, 50);
});

Deno.test("sharedBudget() counts the usage of a failed attempt that reports it, without an estimate", async () => {
  const { policy, createAgent } = createTeam({ tokens: 1_000 });
  const broken = fail("network_error", "Connection reset", { after: WORDS, usage: USAGE });
  const agent = createAgent([broken, answer()], AT_ONCE);
  await agent.prompt("Go");
  assertEquals(policy.spent.usage.total, 30);
});

Deno.test("sharedBudget() replaces the estimate of a failed attempt by the usage that it reports", async () => {
  const { policy, clock, createAgent } = createTeam({ tokens: 1_000 });
  const error = new NetworkError("Connection reset");
  const { streamFn: failing, finishReply } = streamSlowly([
    { type: "error", stopReason: "error", error, usage: USAGE },
  ]);
  const succeeding = scriptedStream([answer()]);
  const attempts = [failing, succeeding];
  const running = createAgent([], {
    streamFn: (request) => (attempts.shift() ?? succeeding)(request),
    retry: () => 0,
  }).prompt("Go");
  await settle();
  clock.advance(250);
  await settle();
  finishReply();
  await settle();
  clock.advance(0);
  await running;
  assertEquals(policy.spent.usage.total, 30);
});

Deno.test('sharedBudget() with `unknownPrice: "ignore"` counts a reply once whose calls wait for approvals', async () => {
  const { policy, createAgent } = createTeam({ cost: 100, unknownPrice: "ignore" });
  const search = fakeTool({ name: "work", result: { content: [], usage: USAGE } });
  const agent = createAgent([callWork(), answer()], {
    tools: [search],
    approve: () => ({ type: "pending" }),
  });
  const { pendingApprovals = [] } = await agent.prompt("Go");
  assertEquals(policy.spent.cost.total, 10);
  const approvals = Object.fromEntries(
    pendingApprovals.map(({ toolCallId }) => [toolCallId, true]),
  );
  assertEquals((await agent.continue({ approvals })).cost.total, null);
  assertEquals(policy.spent.cost.total, 20);
});
