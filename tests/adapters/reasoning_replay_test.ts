import { assertEquals } from "@std/assert";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { createReply, createToolResult, prompt, TOOLS } from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";

/** A model, and the server that it is called at. */
interface Subject {
  readonly model: string;
  readonly baseUrl: string;
}

const DEEPSEEK = { model: "deepseek/deepseek-v4-pro:high", baseUrl: "https://api.deepseek.com/v1" };
const LOCAL = { model: "vllm/kimi-k2.6:high", baseUrl: "http://localhost:8000/v1" };

function think(thinking: string, signature?: string): ContentBlock {
  return { type: "thinking", thinking, ...(signature !== undefined && { signature }) };
}

function call(id: string): ContentBlock {
  return { type: "tool_call", id, name: "read_file", arguments: {} };
}

const RESULT = [{ type: "text", text: "a" }] as const;

/** Sends a conversation and returns the `reasoning_content` of its replies. */
async function sendReasoning(
  { model, baseUrl }: Subject,
  messages: readonly LlmMessage[],
): Promise<unknown[]> {
  const { body } = await captureRequest((fetch) => createOpenAI({ fetch, baseUrl }), {
    model: modelSpec(model),
    context: { systemPrompt: "", messages, tools: TOOLS },
    options: { apiKey: "sk-test" },
    signal: new AbortController().signal,
  });
  const sent = Array.isArray(body["messages"]) ? body["messages"] : [];
  return sent.filter(({ role }) => role === "assistant")
    .map(({ reasoning_content }) => reasoning_content);
}

/** Creates a conversation of three turns, of which the second calls a tool. */
function createTurns(model: string, signature?: string): LlmMessage[] {
  const own = modelSpec(model);
  return [
    prompt("1"),
    createReply(own, [think("t1", signature), { type: "text", text: "One." }]),
    prompt("2"),
    createReply(own, [think("t2", signature), call("c1")]),
    createToolResult("c1", "read_file", RESULT),
    createReply(own, [think("t3", signature), { type: "text", text: "Two." }]),
    prompt("3"),
    createReply(own, [think("t4", signature), call("c2")]),
    createToolResult("c2", "read_file", RESULT),
  ];
}

Deno.test("chat: reasoning_content is sent back for the current turn and for earlier turns with tool calls", async () => {
  const turns = createTurns(LOCAL.model, "reasoning_content");
  assertEquals(await sendReasoning(LOCAL, turns), [undefined, "t2", "t3", "t4"]);
  const next = [...turns, createReply(modelSpec(LOCAL.model), [think("t5", "reasoning_content")])];
  assertEquals(await sendReasoning(LOCAL, [...next, prompt("4")]), [undefined, "t2", "t3", "t4"]);
});

Deno.test("chat: a prompt within a turn leaves the reasoning of the calls before it", async () => {
  const own = modelSpec(LOCAL.model);
  const steered = [
    prompt("1"),
    createReply(own, [think("t1", "reasoning_content"), call("c1")]),
    createToolResult("c1", "read_file", RESULT),
    prompt("Stop"),
    createReply(own, [think("t2", "reasoning_content"), { type: "text", text: "Stopped." }]),
    prompt("2"),
  ];
  assertEquals(await sendReasoning(LOCAL, steered), ["t1", undefined]);
});

Deno.test("chat: the reasoning of another model, or in another field, is not sent to a server that requires none", async () => {
  const foreign = createTurns("deepseek/deepseek-v4-pro", "reasoning_content");
  assertEquals(await sendReasoning(LOCAL, foreign), [undefined, undefined, undefined, undefined]);
  assertEquals(await sendReasoning(LOCAL, createTurns(LOCAL.model)), [
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

/** Servers that reject replies without reasoning. */
const STRICT_SERVERS: readonly Subject[] = [
  DEEPSEEK,
  { model: "moonshot/kimi-k2.6", baseUrl: "https://api.moonshot.ai/v1" },
  { model: "moonshot/kimi-k2-thinking:high", baseUrl: "https://api.moonshot.cn/v1" },
  { model: "kimi/kimi-for-coding", baseUrl: "https://api.kimi.com/coding/v1" },
  { model: "openrouter/deepseek/deepseek-v4-flash", baseUrl: "https://openrouter.ai/api/v1" },
  { model: "openrouter/moonshotai/kimi-k2.5:high", baseUrl: "https://openrouter.ai/api/v1" },
];

for (const subject of STRICT_SERVERS) {
  Deno.test(`chat: every reply has reasoning_content for ${subject.model}`, async () => {
    const own = createTurns(subject.model, "reasoning_content");
    assertEquals(await sendReasoning(subject, own), ["t1", "t2", "t3", "t4"]);
    assertEquals(await sendReasoning(subject, createTurns(subject.model)), [
      "t1",
      "t2",
      "t3",
      "t4",
    ]);
    const foreign = createTurns("anthropic/claude-sonnet-4-5", "c2lnbmF0dXJl");
    assertEquals(await sendReasoning(subject, foreign), [" ", " ", " ", " "]);
    const blank = [prompt("1"), createReply(modelSpec(subject.model), [think("\n"), call("c1")])];
    const answered = [...blank, createToolResult("c1", "read_file", RESULT)];
    assertEquals(await sendReasoning(subject, answered), [" "]);
  });
}

Deno.test("chat: no reasoning_content is added for a model that does not think", async () => {
  const foreign = createTurns("anthropic/claude-sonnet-4-5");
  for (
    const subject of [
      { ...DEEPSEEK, model: "deepseek/deepseek-v4-pro" },
      { model: "moonshot/moonshot-v1-8k", baseUrl: "https://api.moonshot.ai/v1" },
      { model: "openrouter/openai/gpt-4o", baseUrl: "https://openrouter.ai/api/v1" },
      { model: "zai/glm-5.1:high", baseUrl: "https://api.z.ai/api/paas/v4" },
    ]
  ) {
    const sent = await sendReasoning(subject, foreign);
    assertEquals(sent, [undefined, undefined, undefined, undefined], subject.model);
  }
});
