import { assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import type { Usage } from "../../core/models/usage.ts";
import { assistantMessage } from "../../testing/messages.ts";
import { fail, reply, type ScriptedStep } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { compact } from "./compact.ts";
import { summarize } from "./summarize.ts";

function createUsage(input: number): Usage {
  return { input, output: 0, cacheRead: 0, cacheWrite: 0, total: input };
}

/** Creates a history of exchanges of about 1,000 tokens each. */
function createHistory(exchanges: number): AgentMessage[] {
  return Array.from({ length: exchanges }, (_, number) => [
    userMessage(`question ${number} ${"q".repeat(2000)}`, number),
    assistantMessage(`answer ${number} ${"a".repeat(2000)}`),
  ]).flat();
}

function createTransform(steps: readonly ScriptedStep[], now: () => number = Date.now) {
  const summaries = scriptedStream(steps);
  const transform = summarize({
    streamFn: summaries,
    contextWindow: 10_000,
    maxSummaryTokens: 500,
    keepSteps: 1,
    retry: () => null,
    now,
  });
  return { summaries, transform };
}

const summary = reply("late summary", { usage: createUsage(100) });

for (const share of [0.5, 0.3]) {
  Deno.test(`summarize(): a later summary fails no request that fits by the count of the provider, ${share} of the estimate`, async () => {
    let time = 0;
    let counted = 3_000;
    const steps = [fail("auth_error", "no key"), summary];
    const { summaries, transform } = createTransform(steps, () => time);
    const agent = new Agent({
      model: "p/m",
      streamFn: scriptedStream(Array(4).fill(() => reply("ok", { usage: createUsage(counted) }))),
      transformContext: transform,
      messages: createHistory(12),
    });
    await agent.prompt("first");
    for (const text of ["y", "z"]) {
      counted += 3_000 * share;
      await agent.prompt(text.repeat(12_000));
    }
    assertEquals(transform.cut?.isIncomplete, true);
    time = 30_000;
    const { error, usage } = await agent.prompt("last");
    assertEquals([error, summaries.calls.length], [undefined, 2]);
    assertEquals(usage.total, counted + 100, "the summary counts");
    assertEquals(transform.cut?.isIncomplete, undefined);
  });
}

Deno.test("compact() keeps messages that fit by the count of the provider, which is below the estimate", async () => {
  const { transform } = createTransform([summary]);
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("ok", { usage: createUsage(7_000) })]),
    messages: [userMessage("y".repeat(36_000), 0), ...createHistory(5)],
  });
  await agent.prompt("first");
  const report = await compact(agent, transform);
  assertEquals([report?.summary, report?.tokensBefore], ["late summary", 7_005]);
});
