import { deepStrictEqual as assertEquals, rejects as assertRejects } from "node:assert/strict";
import { APICallError, type LanguageModelV4GenerateResult } from "npm:@ai-sdk/provider@4.0.38";
import { install } from "npm:@sinonjs/fake-timers@15.5.0";
import { isStepCount, tool, ToolLoopAgent } from "npm:ai@7.0.173";
import { MockLanguageModelV4 } from "npm:ai@7.0.173/test";
import { z } from "npm:zod@4.6.7";

const booked: string[] = [];
const book = tool({
  description: "Books a table.",
  inputSchema: z.object({ name: z.string(), guests: z.int().max(8) }),
  execute({ name, guests }) {
    booked.push(`${name} ${guests}`);
    return "Booked.";
  },
});

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const reply = (text: string): LanguageModelV4GenerateResult => ({
  content: [{ type: "text", text }],
  finishReason: { unified: "stop", raw: undefined },
  usage,
  warnings: [],
});
const call = (
  toolCallId: string,
  toolName: string,
  input: object,
): LanguageModelV4GenerateResult => ({
  content: [{ type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) }],
  finishReason: { unified: "tool-calls", raw: undefined },
  usage,
  warnings: [],
});

Deno.test("the agent books a table, and corrects invalid arguments", async () => {
  booked.length = 0;
  const model = new MockLanguageModelV4({
    doGenerate: [
      call("1", "book", { name: "Ada", guests: 12 }),
      call("2", "book", { name: "Ada", guests: 8 }),
      reply("Booked for 8."),
    ],
  });
  const agent = new ToolLoopAgent({ model, tools: { book }, stopWhen: isStepCount(5) });
  assertEquals((await agent.generate({ prompt: "A table for 12" })).text, "Booked for 8.");
  assertEquals(booked, ["Ada 8"]);
  assertEquals(model.doGenerateCalls.length, 3);
});

Deno.test("a rate limit is retried after its delay", async () => {
  const clock = install();
  let calls = 0;
  const model = new MockLanguageModelV4({
    doGenerate() {
      if (calls++ > 0) return Promise.resolve(reply("Hello"));
      throw new APICallError({
        message: "Slow down",
        url: "https://example.org",
        requestBodyValues: {},
        statusCode: 429,
        responseHeaders: { "retry-after": "30" },
      });
    },
  });
  const running = new ToolLoopAgent({ model }).generate({ prompt: "Hi" });
  await clock.tickAsync(30_000);
  clock.uninstall();
  assertEquals((await running).text, "Hello");
});

Deno.test("an abort ends a reply that hangs", async () => {
  const model = new MockLanguageModelV4({
    doGenerate: ({ abortSignal }) =>
      new Promise((_, reject) => {
        if (abortSignal?.aborted) return reject(abortSignal.reason);
        abortSignal?.addEventListener("abort", () => reject(abortSignal.reason));
      }),
  });
  const controller = new AbortController();
  const running = new ToolLoopAgent({ model }).generate({
    prompt: "Hi",
    abortSignal: controller.signal,
  });
  controller.abort(new Error("enough"));
  await assertRejects(running, { message: "enough" });
});
