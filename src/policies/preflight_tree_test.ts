import { assert, assertEquals } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import type { StreamFn, StreamRequest } from "../core/stream.ts";
import { estimateTextTokens, estimateTokens, estimateToolTokens } from "../core/tokens.ts";
import { subAgentTool } from "../sub_agents/mod.ts";
import { fail, fakeTool, reply, scriptedStream, toolCall } from "../testing/mod.ts";
import { seededRandom } from "../testing/seeded_random.ts";
import { sharedBudget } from "./mod.ts";

const SEEDS = Deno.env.get("SWINK_PROVE") === "1" ? 5_000 : 150;
const model = "test/model";

/** The input of a request, as the budget estimates it. */
function estimateInput({ context: { systemPrompt, messages, tools } }: StreamRequest): number {
  const texts = estimateTextTokens(systemPrompt) + estimateToolTokens(tools);
  return messages.reduce((sum, message) => sum + estimateTokens(message), texts);
}

interface TreeTrial {
  /** Tokens of all replies and failed attempts. */
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
    /^The next request could exceed the limit of (\d+) tokens: (\d+) .* (\d+) tokens are reserved .* up to (\d+)/
      .exec(reason);
  if (!match) return;
  const [limit = 0, ...parts] = match.slice(1).map(Number);
  assert(parts.reduce((sum, part) => sum + part) > limit, `${trial}: ${reason}`);
}

/** Runs a tree of agents, side by side and nested, until their budget refuses a request or they have nothing left to do. */
async function runTree(seed: number): Promise<TreeTrial> {
  const random = seededRandom(seed);
  const pick = (max: number) => Math.floor(random() * max);
  const trial: TreeTrial = { spent: 0, aborted: 0, excess: 0, requests: 0, refusals: 0 };
  const limit = 500 + pick(8000);
  const exact = pick(2) === 0;
  const abortAt = pick(4) === 0 ? 2 + pick(8) : undefined;
  const streamFn: StreamFn = async function* (request) {
    if (++trial.requests === abortAt) agent.abort();
    for (let wait = pick(4); wait > 0; wait--) await Promise.resolve();
    // A usage of 0 counts as not reported.
    const input = 1 + Math.floor((estimateInput(request) - 1) * random());
    const over = exact ? 0 : pick(300);
    const output = pick((request.options.maxTokens ?? 0) + 1) + over;
    trial.excess = Math.max(trial.excess, over);
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
        trial.spent += input + output;
      }
      yield event;
    }
  };
  const policy = sharedBudget({ tokens: limit, preflight: true });
  const agent = new Agent({
    model,
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
  if (trial.aborted === 0) assertEquals(policy.spent.usage.total, trial.spent, `seed ${seed}`);
  assertEquals(policy.spent.reserved.usage.total, 0, `seed ${seed}: reserved`);
  const allowed = limit + trial.excess * trial.requests;
  assert(trial.spent <= allowed, `seed ${seed}: ${trial.spent} of ${limit}`);
  return trial;
}

Deno.test("sharedBudget() with preflight: a tree of agents never spends more than the limit", async () => {
  const sum = { requests: 0, refusals: 0 };
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { requests, refusals } = await runTree(seed);
    sum.requests += requests;
    sum.refusals += refusals;
  }
  assert(sum.requests > 5 * SEEDS && sum.refusals > SEEDS / 2, JSON.stringify(sum));
});
