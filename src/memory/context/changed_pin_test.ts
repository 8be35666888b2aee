import { assert, assertEquals } from "@std/assert";
import { createHistory } from "../../../tests/memory/long_history.ts";
import { Agent } from "../../agent/agent.ts";
import type { TransformInput } from "../../core/context/context.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import { assistantMessage } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { checkpoint, restore } from "../recording/checkpoint.ts";
import { openSession } from "../recording/open_session.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { compact } from "./compact.ts";
import type { ContextCut } from "./compaction.ts";
import { slidingWindow } from "./sliding_window.ts";
import { summarize } from "./summarize.ts";

const RULE = "RULE: never delete files";

/** A history whose fourth prompt is the rule. */
const HISTORY: readonly AgentMessage[] = createHistory().with(6, userMessage(RULE, 3));

const isRule = (message: AgentMessage) => JSON.stringify(message).includes(RULE);

function createAgent(pin: (message: AgentMessage) => boolean, messages?: readonly AgentMessage[]) {
  const summaries = scriptedStream([reply("sum")]);
  const transform = summarize({ streamFn: summaries, contextWindow: 10_000, keepSteps: 1, pin });
  const streamFn = scriptedStream([reply("ok")]);
  const agent = new Agent({ model: "p/m", streamFn, transformContext: transform, messages });
  return { agent, transform, summaries, streamFn };
}

type TestAgent = ReturnType<typeof createAgent>;

async function reopen({ agent }: TestAgent, next: TestAgent): Promise<void> {
  const store = new InMemorySessionStore();
  const session = await openSession(store, { id: "a" }, agent);
  await agent.prompt("one");
  await session.close();
  await using _reopened = await openSession(store, { id: "a" }, next.agent);
}

async function restoreCheckpoint({ agent }: TestAgent, next: TestAgent): Promise<void> {
  await agent.prompt("one");
  restore(next.agent, JSON.parse(JSON.stringify(checkpoint(agent))));
}

for (const [name, move] of Object.entries({ reopen, restoreCheckpoint })) {
  Deno.test(`summarize(): messages that another pin has kept stay until they are summarized: ${name}`, async () => {
    const next = createAgent(() => false);
    await move(createAgent(isRule, HISTORY), next);
    assert(next.transform.cut);
    await next.agent.prompt("two");
    assert(next.streamFn.calls[0]?.context.messages.some(isRule));
    await compact(next.agent, next.transform, { tokens: 0 });
    assert(next.summaries.calls[0]?.context.messages.some(isRule));
    assert(!next.transform.view(next.agent.state.messages).messages.some(isRule));
  });
}

Deno.test("slidingWindow(): a restored cut names the messages that another pin has kept", async () => {
  for (const withIds of [true, false]) {
    const history = HISTORY.map((message, number) =>
      withIds ? { ...message, id: `m${number}` } : message
    );
    const model = { provider: "p", modelId: "m", thinkingLevel: "off" } as const;
    const { signal } = new AbortController();
    const input = { overflow: false, model, systemPrompt: "", tools: [], signal };
    const transform = slidingWindow({ contextWindow: 10_000, pin: isRule });
    await transform(history, input);
    const cut: ContextCut = JSON.parse(JSON.stringify(transform.cut));
    assertEquals(cut.pinned, withIds ? ["m6"] : [6]);
    const restored = slidingWindow({ contextWindow: 10_000, pin: () => false });
    restored.restore(cut);
    assertEquals(restored.view(history).messages, transform.view(history).messages);
  }
});

const MODEL = { provider: "p", modelId: "m", thinkingLevel: "off" } as const;

function createInput(overflow: boolean): TransformInput {
  const { signal } = new AbortController();
  return { overflow, model: MODEL, systemPrompt: "", tools: [], signal };
}

Deno.test("slidingWindow(): messages that no pin selects any longer are omitted after an overflow", async () => {
  const isAnswer = ({ role }: AgentMessage) => role === "assistant";
  const history = [...HISTORY, userMessage("last", 0)];
  const transform = slidingWindow({ contextWindow: 10_000, pin: isAnswer });
  await transform(history, createInput(false));
  const restored = slidingWindow({ contextWindow: 10_000, pin: () => false });
  restored.restore(transform.cut);
  const before = restored.view(history).messages;
  const output = await restored(history, createInput(true));
  assert("report" in output && before.filter(isAnswer).length > 6);
  assertEquals(output.messages.filter(isAnswer).length, 1);
});

Deno.test("slidingWindow(): no reply has counted messages that another pin selects now", async () => {
  const usage = { input: 3_000, output: 500, cacheRead: 0, cacheWrite: 0, total: 3_500 };
  const history = HISTORY;
  const transform = slidingWindow({ contextWindow: 10_000, pin: () => false });
  await transform(history, createInput(false));
  const restored = slidingWindow({
    contextWindow: 10_000,
    pin: ({ role }) => role === "assistant",
  });
  restored.restore(transform.cut);
  const later = [...history, assistantMessage("answer", { usage })];
  assertEquals(transform.view(later).firstTrusted, transform.view(later).messages.length - 1);
  assertEquals(restored.view(later).firstTrusted, restored.view(later).messages.length);
});

Deno.test("slidingWindow(): replies count after the view of a history with a plan that no request has", async () => {
  const sent = createHistory();
  const plan: AgentMessage = { role: "custom", type: "plan", data: "text", timestamp: 0 };
  const transform = slidingWindow({ contextWindow: 10_000 });
  await transform(sent, createInput(true));
  const later = [...sent, assistantMessage("answer")];
  const { firstTrusted } = transform.view(later);
  transform.view(later.toSpliced(4, 0, plan));
  assertEquals(transform.view(later).firstTrusted, firstTrusted);
});
