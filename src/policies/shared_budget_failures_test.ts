import { assertEquals, assertThrows } from "@std/assert";
import { testAgent } from "../../tests/conformance/test_agent.ts";
import { waitUntil } from "../../tests/wait_until.ts";
import type { Agent } from "../agent/agent.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { extractText } from "../core/messages/content.ts";
import { subAgentTool } from "../sub_agents/mod.ts";
import { fail, fakeTool, hang, reply, toolCall } from "../testing/mod.ts";
import { budget, sharedBudget } from "./mod.ts";

/** Returns the text of the reply that streams. */
function getStreamedText({ state: { streamingMessage } }: Agent): string {
  return extractText(streamingMessage?.content ?? []);
}

Deno.test("sharedBudget(): a reply that is aborted before its first check counts with its estimate", async () => {
  const policy = sharedBudget({ tokens: 1000 });
  const { agent } = testAgent([hang({ after: "word ".repeat(20) })], { policies: [policy] });
  const running = agent.prompt("Go");
  await waitUntil(() => getStreamedText(agent) === "word ".repeat(20));
  agent.abort();
  const { stopReason, stoppedBy } = await running;
  assertEquals([stopReason, stoppedBy, policy.spent.usage.output], ["aborted", undefined, 25]);
});

Deno.test("sharedBudget(): an abort is no stop, though its reply reaches the limit", async () => {
  const policy = sharedBudget({ tokens: 10 });
  const { agent } = testAgent([hang({ after: "word ".repeat(20) })], { policies: [policy] });
  const running = agent.prompt("Go");
  await waitUntil(() => getStreamedText(agent) === "word ".repeat(20));
  agent.abort();
  const { stopReason, stoppedBy } = await running;
  assertEquals([stopReason, stoppedBy, policy.spent.usage.output], ["aborted", undefined, 25]);
  assertEquals((await agent.prompt("Again")).stoppedBy?.policy, "shared_budget");
});

for (const create of [budget, sharedBudget]) {
  Deno.test(`${create.name}(): a failed attempt that reports its usage counts with that, not with its estimate`, async () => {
    const usage = { input: 1, output: 4, cacheRead: 0, cacheWrite: 0, total: 5 };
    const failed = fail("network_error", "Reset", { after: "word ".repeat(20), usage });
    const { agent } = testAgent([failed, reply("Hello", { usage })], {
      policies: [create({ tokens: 20 })],
      retry: ({ attempt }) => attempt < 2 ? 0 : null,
      sleep: () => Promise.resolve(),
    });
    const { stoppedBy, text, usage: total } = await agent.prompt("Go");
    assertEquals([stoppedBy, text, total.total], [undefined, "Hello", 10]);
  });
}

Deno.test("sharedBudget() with preflight: at the end of a turn nothing is reserved for its request", async () => {
  const policy = sharedBudget({ tokens: 100_000, preflight: true });
  const { agent } = testAgent([reply([toolCall("work")]), reply("Done")], {
    policies: [policy],
    tools: [fakeTool({ name: "work" })],
  });
  const reserved: (readonly [string, boolean])[] = [];
  agent.subscribe(({ type }) => {
    if (type !== "model_call_start" && type !== "turn_end") return;
    reserved.push([type, policy.spent.reserved.usage.total > 0]);
  });
  await agent.prompt("Go");
  const turn = [["model_call_start", true], ["turn_end", false]] as const;
  assertEquals(reserved, [...turn, ...turn]);
});

Deno.test("sharedBudget() with preflight: nothing is reserved for a retry that is refused", async () => {
  const policy = sharedBudget({ tokens: 100, preflight: { maxOutputTokens: 50 } });
  const usage = { input: 10, output: 50, cacheRead: 0, cacheWrite: 0, total: 60 };
  const { agent, streamFn } = testAgent([fail("network_error", "Reset", { usage })], {
    policies: [policy],
    retry: () => 0,
  });
  const reserved: number[] = [];
  agent.subscribe((event) => {
    if (event.type !== "message_end" || event.message.role !== "assistant") return;
    reserved.push(policy.spent.reserved.usage.total);
  });
  const { stoppedBy } = await agent.prompt("Go");
  assertEquals([stoppedBy?.policy, reserved], ["shared_budget", [0]]);
  streamFn.assertDone();
});

Deno.test("sharedBudget(): the limits hold if now fails, and a now that is no function is refused", async () => {
  const now = () => {
    throw new Error("no clock");
  };
  const policy = sharedBudget({ tokens: 20, now });
  const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, total: 15 };
  const callWork = () => reply([toolCall("work")], { usage });
  const { agent } = testAgent([callWork(), callWork()], {
    policies: [policy],
    tools: [fakeTool({ name: "work" })],
  });
  const result = await agent.prompt("Go");
  assertEquals(result.stoppedBy?.policy, "shared_budget");
  assertEquals(policy.spent.usage.total, 30);
  assertThrows(
    () => sharedBudget({ now: 5 as unknown as () => number }),
    BadRequestError,
    "Invalid budget: now must be a function, not 5",
  );
});

Deno.test("sharedBudget(): a call that waits for an approval after its run reserves no time", async () => {
  const policy = sharedBudget({ toolMs: 100, preflight: true });
  const work = fakeTool({ name: "work", timeoutMs: 80 });
  const { agent } = testAgent([reply([toolCall("work", {}, { id: "a" })]), reply("Done")], {
    policies: [policy],
    tools: [work],
    approve: () => ({ type: "pending" }),
  });
  await agent.prompt("Go");
  assertEquals(policy.spent.reserved.toolMs, 0);
  await agent.continue({ approvals: { a: true } });
  assertEquals([work.calls.length, policy.spent.reserved.toolMs], [1, 0]);
});

Deno.test("sharedBudget(): a complete reply reserves nothing while its tool calls run agents", async () => {
  const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, total: 15 };
  // Each request may spend more than 1,000 tokens, so that two do not fit at the same time.
  const policy = sharedBudget({ tokens: 2000, preflight: true });
  const { agent, streamFn } = testAgent([
    reply([toolCall("delegate", { prompt: "Look" })], { usage }),
    reply("Seen", { usage }),
    reply("Done", { usage }),
  ], {
    policies: [policy],
    streamOptions: { maxTokens: 1000 },
    tools: [subAgentTool({ name: "delegate", description: "" })],
  });
  const { stoppedBy } = await agent.prompt("Go");
  assertEquals([streamFn.calls.length, stoppedBy], [3, undefined]);
});
