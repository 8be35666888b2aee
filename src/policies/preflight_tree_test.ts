import { assert, assertEquals } from "@std/assert";
import { setImmediate } from "node:timers";
import { Agent } from "../agent/agent.ts";
import type { StreamFn, StreamRequest } from "../core/streams/stream.ts";
import { estimateTextTokens, estimateTokens, estimateToolTokens } from "../core/streams/tokens.ts";
import { subAgentTool } from "../sub_agents/mod.ts";
import { fail, fakeTool, ManualClock, reply, scriptedStream, toolCall } from "../testing/mod.ts";
import { seededRandom } from "../testing/seeded_random.ts";
import { sharedBudget } from "./mod.ts";

const SEEDS = Deno.env.get("SWINK_PROVE") === "1" ? 5_000 : 25;
const model = "test/model";

/** The input of a request, as the budget estimates it. */
function estimateInput({ context: { systemPrompt, messages, tools } }: StreamRequest): number {
  const texts = estimateTextTokens(systemPrompt) + estimateToolTokens(tools);
  return messages.reduce((sum, message) => sum + estimateTokens(message), texts);
}

/** Price of a token of a kind. */
const RATES = { input: 3, output: 5 };
const PRICES = { input: RATES.input * 1e6, output: RATES.output * 1e6 };

/** The limits of which a tree never spends more. */
type Limit = "tokens" | "cost";

interface TreeTrial {
  /** Tokens of all replies and failed attempts, or their cost. */
  spent: number;
  /** Number of replies that the limit ended early. */
  aborted: number;
  /** The largest number of tokens by which a reply was longer than its worst case; 0 in half of the trials. */
  excess: number;
  requests: number;
  refusals: number;
}

/** Checks that a refused request did not fit. */
function assertExceedsLimit(reason: string, trial: string): void {
  const match =
    /^The next request could exceed the (?:cost )?limit of (\d+)\D+: (\d+) .* (\d+)[a-z ]+ reserved .* up to (\d+)/
      .exec(reason);
  if (!match) return;
  const [limit = 0, ...parts] = match.slice(1).map(Number);
  assert(parts.reduce((sum, part) => sum + part) > limit, `${trial}: ${reason}`);
}

/** Runs a tree of agents, side by side and nested, until their budget refuses a request or they have nothing left to do. */
async function runTree(seed: number, name: Limit): Promise<TreeTrial> {
  const random = seededRandom(seed);
  const pick = (max: number) => Math.floor(random() * max);
  const trial: TreeTrial = { spent: 0, aborted: 0, excess: 0, requests: 0, refusals: 0 };
  const limit = (500 + pick(8000)) * (name === "cost" ? 4 : 1);
  const count = (input: number, output: number): number =>
    name === "cost" ? input * RATES.input + output * RATES.output : input + output;
  const exact = pick(2) === 0;
  const abortAt = pick(4) === 0 ? 2 + pick(8) : undefined;
  const streamFn: StreamFn = async function* (request) {
    if (++trial.requests === abortAt) agent.abort();
    for (let wait = pick(4); wait > 0; wait--) await Promise.resolve();
    // A usage of 0 counts as not reported.
    const input = 1 + Math.floor((estimateInput(request) - 1) * random());
    const over = exact ? 0 : pick(300);
    const output = pick((request.options.maxTokens ?? 0) + 1) + over;
    trial.excess = Math.max(trial.excess, count(0, over));
    const used = { input, output, cacheRead: 0, cacheWrite: 0, total: input + output };
    const delegate = () => toolCall("delegate", { prompt: `Task ${pick(100)}` });
    const step = pick(8) === 0
      ? fail("network_error", "down", { usage: used })
      : pick(3) === 0
      ? reply("Done", { usage: used })
      : reply([...Array.from({ length: 1 + pick(3) }, delegate), toolCall("work")], {
        usage: used,
      });
    for await (const event of scriptedStream([step])(request)) {
      if (event.type === "done" || event.type === "error") {
        trial.spent += count(input, output);
      }
      yield event;
    }
  };
  const policy = sharedBudget({ [name]: limit, preflight: true });
  const agent = new Agent({
    model,
    prices: { [model]: PRICES },
    streamFn,
    policies: [policy],
    streamOptions: { maxTokens: 50 + pick(300) },
    maxTurns: 6,
    retry: () => null,
    tools: [
      subAgentTool({ name: "delegate", description: "Delegates.", maxDepth: 3, maxAgents: 1000 }),
      fakeTool({ name: "work" }),
    ],
  });
  const reasons: string[] = [];
  agent.subscribe((event) => {
    const own = event.type === "sub_agent" ? event.event : event;
    if (own.type === "message_end" && own.message.role === "assistant") {
      if (own.message.stopReason === "aborted") trial.aborted++;
    }
    if (own.type === "agent_end" && own.stoppedBy?.policy === "shared_budget") {
      trial.refusals++;
      reasons.push(own.stoppedBy.reason);
    }
  });
  await agent.prompt("Go");
  for (const reason of reasons) assertExceedsLimit(reason, `seed ${seed}`);
  // A reply that the limit ends early counts with its estimate.
  const { usage, cost } = policy.spent;
  const counted = name === "cost" ? cost.total : usage.total;
  if (trial.aborted === 0) assertEquals(counted, trial.spent, `seed ${seed}`);
  assertEquals(policy.spent.reserved.usage.total, 0, `seed ${seed}: reserved`);
  const allowed = limit + trial.excess * trial.requests;
  assert(trial.spent <= allowed, `seed ${seed}: ${trial.spent} of ${limit}`);
  return trial;
}

for (const limit of ["tokens", "cost"] as const) {
  Deno.test(`sharedBudget() with preflight: a tree of agents never spends more than its limit of ${limit}`, async () => {
    const sum = { requests: 0, refusals: 0 };
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { requests, refusals } = await runTree(seed, limit);
      sum.requests += requests;
      sum.refusals += refusals;
    }
    assert(sum.requests > 5 * SEEDS && sum.refusals > SEEDS / 2, JSON.stringify(sum));
  });
}

interface TimedTrial {
  /** Calls that were refused or cancelled, and requests that were not made. */
  refusals: number;
  calls: number;
  /** Requests that ended before their reply was complete. */
  cut: number;
}

/** Runs a tree of agents whose requests and tools take time, until their budget has no time left for the next one. */
async function runTimedTree(seed: number): Promise<TimedTrial> {
  const random = seededRandom(seed);
  const pick = (max: number) => Math.floor(random() * max);
  const clock = new ManualClock();
  const maxRequestMs = 10 * (1 + pick(20));
  const limits = { toolMs: 10 * (10 + pick(200)), elapsedMs: 10 * (20 + pick(300)) };
  const trial: TimedTrial = { refusals: 0, calls: 0, cut: 0 };
  const seeds = `seed ${seed}: ${JSON.stringify(limits)}`;
  const streamFn: StreamFn = async function* (request) {
    await clock.sleep(10 * pick(maxRequestMs / 10 + 1), request.signal);
    if (request.signal.aborted) trial.cut++;
    const delegate = () => toolCall("delegate", { prompt: `Task ${pick(100)}` });
    const calls = [toolCall("work"), ...Array.from({ length: pick(3) }, delegate)];
    yield* scriptedStream([reply(pick(4) === 0 ? "Done" : calls)])(request);
  };
  const timeoutMs = 10 * (1 + pick(30));
  const work = fakeTool({
    name: "work",
    timeoutMs,
    result: async (_args, { signal }) => {
      trial.calls++;
      await clock.sleep(10 * pick(timeoutMs / 5), signal);
      return "ok";
    },
  });
  const { now, sleep } = clock;
  const policy = sharedBudget({ ...limits, now, preflight: { maxRequestMs } });
  const agent = new Agent({
    model,
    streamFn,
    policies: [policy],
    tools: [work, subAgentTool({ name: "delegate", description: "", maxDepth: 3 })],
    maxTurns: 6,
    now,
    sleep,
  });
  agent.subscribe((event) => {
    const own = event.type === "sub_agent" ? event.event : event;
    if (own.type === "agent_end" && own.stoppedBy) trial.refusals++;
    if (own.type === "tool_execution_end" && own.isError) trial.refusals++;
  });
  let isRunning = true;
  const running = agent.prompt("Go").finally(() => isRunning = false);
  while (isRunning) {
    for (let task = 0; task < 3; task++) {
      await new Promise((resolve) => void setImmediate(resolve));
    }
    clock.advanceToNext();
  }
  await running;
  assertEquals(trial.cut, 0, seeds);
  assert(policy.spent.toolMs <= limits.toolMs, `${seeds}: ${policy.spent.toolMs} ms of tools`);
  assertEquals(policy.spent.reserved.toolMs, 0, seeds);
  return trial;
}

Deno.test("sharedBudget() with preflight: a tree of agents never spends more time of tools than its limit, and its time limit cuts off no request", async () => {
  const sum = { calls: 0, refusals: 0 };
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { calls, refusals } = await runTimedTree(seed);
    sum.calls += calls;
    sum.refusals += refusals;
  }
  assert(sum.calls > 2 * SEEDS && sum.refusals > SEEDS / 2, JSON.stringify(sum));
});
