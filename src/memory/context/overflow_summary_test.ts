import { assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { ContextWindowOverflowError } from "../../core/errors/errors.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import type { StreamFn, StreamRequest } from "../../core/streams/stream.ts";
import { estimateTokens } from "../../core/streams/tokens.ts";
import { assistantMessage } from "../../testing/messages.ts";
import { fail, reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { summarize, type SummarizeOptions } from "./summarize.ts";

/** Creates a model that rejects requests of more than 3,000 tokens, and an agent with a longer history. */
function createFixture(options: Pick<SummarizeOptions, "contextWindow">) {
  const answer = ({ context }: StreamRequest) => {
    const tokens = context.messages.reduce((sum, message) => sum + estimateTokens(message), 0);
    if (tokens > 3_000) return fail("context_window_overflow", "Too long");
    return reply("ok", {
      usage: { input: tokens, output: 1, cacheRead: 0, cacheWrite: 0, total: tokens + 1 },
    });
  };
  const summaries: StreamRequest[] = [];
  const write = (request: StreamRequest) => {
    summaries.push(request);
    return reply("s".repeat(4 * (request.options.maxTokens ?? 0)));
  };
  const transform = summarize({ streamFn: scriptedStream(Array(9).fill(write)), ...options });
  const streamFn: StreamFn = scriptedStream(Array(20).fill(answer));
  const messages = Array.from({ length: 10 }, (_, number): AgentMessage[] => [
    userMessage(`question ${number} ${"q".repeat(800)}`, number),
    assistantMessage(`answer ${number} ${"a".repeat(800)}`),
  ]).flat();
  const agent = new Agent({ model: "p/m", streamFn, transformContext: transform, messages });
  const reports: CompactionReport[] = [];
  agent.subscribe((event: AgentEvent) => {
    if (event.type === "context_compacted") reports.push(event.report);
  });
  return { agent, summaries, reports };
}

Deno.test("summarize(): the rejected request limits a summary if the window is unknown", async () => {
  const { agent, summaries, reports } = createFixture({ contextWindow: () => undefined });
  assertEquals((await agent.prompt("next")).error, undefined);
  assertEquals([summaries.length, reports.length], [1, 1]);
  const [rejected] = reports;
  assertEquals(summaries[0]?.options.maxTokens, Math.floor((rejected?.tokensBefore ?? 0) / 4));
});

Deno.test("summarize(): a summary is omitted from a rejected request of which nothing else can be omitted", async () => {
  const { agent, reports } = createFixture({ contextWindow: 8_000 });
  const first = await agent.prompt("p".repeat(3_600));
  assertEquals(first.error instanceof ContextWindowOverflowError, true);
  assertEquals(reports.at(-1)?.problem, undefined);
  const second = await agent.continue();
  assertEquals(second.error, undefined);
  const latest = reports.at(-1);
  assertEquals(latest?.summary, undefined);
  assertStringIncludes(latest?.problem ?? "", "does not fit");
});
