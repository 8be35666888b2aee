import { assertEquals } from "@std/assert";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { Agent } from "../../mod.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import { type ModelSpec, modelSpec } from "../../src/core/models/model.ts";
import { createReply, createToolResult, prompt, TOOLS } from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";

const GOOGLE_URL = "https://generativelanguage.googleapis.com/v1beta/openai";
const OPENROUTER_URL = "https://openrouter.ai/api/v1";
const GEMINI = modelSpec("gateway/gemini-3.8-flash");
const SIGNATURE = { google: { thought_signature: "c2lnbmF0dXJl" } };
const END =
  'data: {"choices":[{"index":0,"delta":{"content":"Done."},"finish_reason":"stop"}]}\n\n';
const RESULT = [{ type: "text", text: "a" }] as const;

/** Sends a conversation and returns its replies as the server gets them. */
async function sendReplies(
  model: ModelSpec,
  baseUrl: string,
  messages: readonly LlmMessage[],
): Promise<JsonObject[]> {
  const { body } = await captureRequest((fetch) => createOpenAI({ fetch, baseUrl }), {
    model,
    context: { systemPrompt: "", messages, tools: TOOLS },
    options: { apiKey: "sk-test" },
    signal: new AbortController().signal,
  });
  const sent = Array.isArray(body["messages"]) ? body["messages"] : [];
  return sent.filter(({ role }) => role === "assistant");
}

function getExtraContents([reply]: readonly JsonObject[]): unknown[] {
  const calls = reply?.["tool_calls"];
  return Array.isArray(calls) ? calls.map(({ extra_content }) => extra_content) : [];
}

/** Creates a turn with two calls; the first one has a signature. */
function createTurn(model: ModelSpec, signature?: string): LlmMessage[] {
  const call = { type: "tool_call", name: "read_file", arguments: {} } as const;
  return [
    prompt("Read both."),
    createReply(model, [
      { ...call, id: "call_1", ...(signature !== undefined && { signature }) },
      { ...call, id: "call_2" },
    ]),
    createToolResult("call_1", "read_file", RESULT),
    createToolResult("call_2", "read_file", RESULT),
  ];
}

Deno.test("chat: the signature of a Gemini call is sent back as the server sent it", async () => {
  const called = { name: "read_file", arguments: "{}" };
  const calls = [
    { index: 0, id: "call_1", function: called, extra_content: SIGNATURE },
    { index: 1, id: "call_2", function: called },
  ];
  const chunks = [
    { choices: [{ index: 0, delta: { role: "assistant", tool_calls: calls } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  ];
  const body = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"]
    .map((data) => `data: ${data}\n\n`).join("");
  const sent: string[] = [];
  const fetch: typeof globalThis.fetch = (_url, init) => {
    sent.push(String(init?.body));
    const headers = { "content-type": "text/event-stream" };
    return Promise.resolve(new Response(sent.length === 1 ? body : END, { headers }));
  };
  const tools = TOOLS.map((tool) => ({ ...tool, execute: () => Promise.resolve("a") }));
  const streamFn = createOpenAI({ baseUrl: GOOGLE_URL, fetch, apiKey: "sk-test" });
  await new Agent({ model: GEMINI, streamFn, tools }).prompt("Read both.");
  const { messages } = JSON.parse(sent[1] ?? "{}");
  assertEquals(getExtraContents([messages[1]]), [SIGNATURE, undefined]);
});

Deno.test("chat: signatures of other models and other forms are not sent", async () => {
  const send = async (from: ModelSpec, signature: string) =>
    getExtraContents(await sendReplies(GEMINI, GOOGLE_URL, createTurn(from, signature)))[0];
  const signature = JSON.stringify(SIGNATURE);
  assertEquals(await send(GEMINI, signature), SIGNATURE);
  assertEquals(await send(modelSpec("gateway/gemini-3.9-pro"), signature), undefined);
  for (const other of ["", "c2ln", "{", "[]", "null", '{"google":1}', '{"caller":{"type":"x"}}']) {
    assertEquals(await send(GEMINI, other), undefined, other);
  }
});

Deno.test("chat: calls of another model have a placeholder for the signature that Gemini requires at OpenRouter", async () => {
  const send = async (modelId: string, from: string) => {
    const model = modelSpec(`openrouter/${modelId}`);
    const [reply] = await sendReplies(model, OPENROUTER_URL, createTurn(modelSpec(from)));
    return reply?.["reasoning_details"];
  };
  const placeholder = [{
    type: "reasoning.encrypted",
    data: "skip_thought_signature_validator",
    id: "call_1",
    format: "google-gemini-v1",
    index: 0,
  }];
  const claude = "anthropic/claude-sonnet-5-5";
  assertEquals(await send("google/gemini-3.8-flash", claude), placeholder);
  assertEquals(await send("~google/gemini-flash-latest", claude), placeholder);
  assertEquals(await send("google/gemini-2.5-pro", claude), undefined);
  assertEquals(await send("openai/gpt-5.4", claude), undefined);
});

Deno.test("chat: a Gemini reply at OpenRouter keeps its own signature", async () => {
  const model = modelSpec("openrouter/google/gemini-3.8-flash");
  const data = [{ type: "reasoning.encrypted", data: "QQ==", id: "call_1", index: 0 }];
  const reply = createReply(model, [
    { type: "tool_call", id: "call_1", name: "read_file", arguments: {} },
    { type: "extension", typeName: "openai.reasoning_details", data },
  ]);
  const messages = [prompt("Read."), reply, createToolResult("call_1", "read_file", RESULT)];
  const [sent] = await sendReplies(model, OPENROUTER_URL, messages);
  assertEquals(sent?.["reasoning_details"], data);
});
