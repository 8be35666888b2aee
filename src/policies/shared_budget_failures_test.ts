import { assertEquals, assertThrows } from "@std/assert";
import { settle } from "../../tests/conformance/ports.ts";
import { testAgent } from "../../tests/conformance/test_agent.ts";
import { BadRequestError } from "../core/errors.ts";
import { fail, fakeTool, hang, reply, toolCall } from "../testing/mod.ts";
import { budget, sharedBudget } from "./mod.ts";

Deno.test("sharedBudget(): a reply that is aborted before its first check counts with its estimate", async () => {
  const policy = sharedBudget({ tokens: 1000 });
  const { agent } = testAgent([hang({ after: "word ".repeat(20) })], { policies: [policy] });
  const running = agent.prompt("Go");
  await settle();
  agent.abort();
  const { stopReason, stoppedBy } = await running;
  assertEquals([stopReason, stoppedBy, policy.spent.usage.output], ["aborted", undefined, 25]);
});

Deno.test("sharedBudget(): an abort is no stop, though its reply reaches the limit", async () => {
  const policy = sharedBudget({ tokens: 10 });
  const { agent } = testAgent([hang({ after: "word ".repeat(20) })], { policies: [policy] });
  const running = agent.prompt("Go");
  await settle();
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
