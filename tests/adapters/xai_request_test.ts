import { assertEquals, assertFalse } from "@std/assert";
import { createXai, type XaiOptions } from "../../adapters/xai/mod.ts";
import type { ModelSpec, ThinkingLevel } from "../../src/core/model.ts";
import type { StreamOptions, StreamRequest } from "../../src/core/stream.ts";
import { createReply, prompt, richRequest } from "./rich_conversation.ts";
import { assertGolden, captureRequest, type SentRequest } from "./sent_request.ts";

function createModel(modelId: string, thinkingLevel: ThinkingLevel = "off"): ModelSpec {
  return { provider: "xai", modelId, thinkingLevel };
}

function sendToXai(request: StreamRequest, options: XaiOptions = {}): Promise<SentRequest> {
  return captureRequest((fetch) => createXai({ fetch, ...options }), request);
}

function sendPrompt(spec: ModelSpec, options: StreamOptions = {}): Promise<SentRequest> {
  const request = richRequest(spec, { options });
  return sendToXai({ ...request, context: { ...request.context, messages: [prompt("Hi")] } });
}

Deno.test("the rich conversation is the golden request to xAI's chat completions", async () => {
  const options = { temperature: 0.5, maxTokens: 100, sessionId: "session-1" };
  const request = richRequest(createModel("grok-3-mini", "low"), { options });
  const { url, headers, body, warnings } = await sendToXai(request);
  assertEquals(url, "https://api.x.ai/v1/chat/completions");
  assertEquals(headers.get("authorization"), "Bearer sk-test");
  assertEquals(headers.get("x-grok-conv-id"), "session-1");
  assertEquals(warnings.map(({ code }) => code), ["unknown_model"]);
  assertGolden(body, "xai/chat_request.json");
});

Deno.test("the rich conversation is the golden request to xAI's responses", async () => {
  const options = { temperature: 0.5, maxTokens: 100, sessionId: "session-1" };
  const { url, headers, body, warnings } = await sendToXai(
    richRequest(createModel("grok-4.7", "extra_high"), { options }),
  );
  assertEquals(url, "https://api.x.ai/v1/responses");
  assertEquals(headers.get("x-grok-conv-id"), null);
  assertEquals(warnings, []);
  assertGolden(body, "xai/responses_request.json");
});

Deno.test("the API is the one that the catalog names, unless the caller does", async () => {
  const urlOf = async (spec: ModelSpec, options?: XaiOptions) =>
    (await sendToXai(richRequest(spec), options)).url.replace("https://api.x.ai/v1/", "");
  assertEquals(await urlOf(createModel("grok-4.6")), "responses");
  assertEquals(await urlOf(createModel("grok-code-fast-1")), "chat/completions");
  assertEquals(await urlOf(createModel("grok-4.6"), { api: "chat" }), "chat/completions");
  assertEquals(await urlOf(createModel("grok-code-fast-1"), { api: "responses" }), "responses");
});

Deno.test("each level of thinking becomes an effort that the model has", async () => {
  const efforts = async (modelId: string) => {
    const found: unknown[] = [];
    for (const level of ["off", "minimal", "medium", "extra_high"] as const) {
      found.push((await sendPrompt(createModel(modelId, level))).body["reasoning"]);
    }
    return found.map((reasoning) => reasoning && Reflect.get(Object(reasoning), "effort"));
  };
  assertEquals(await efforts("grok-4.7"), ["low", "low", "medium", "xhigh"]);
  assertEquals(await efforts("grok-4.3"), ["none", "low", "medium", "high"]);
  assertEquals(await efforts("grok-build-0.1"), Array(4).fill(undefined));
  const told = await sendPrompt(createModel("grok-build-0.1", "high"));
  assertEquals(told.warnings.map(({ code }) => code), ["thinking_left_out"]);
});

Deno.test("a conversation whose name is no header goes without it", async () => {
  const { headers } = await sendPrompt(createModel("grok-3-mini"), { sessionId: "Zürich\n1" });
  assertFalse(headers.has("x-grok-conv-id"));
});

Deno.test("encrypted reasoning goes back to the model that had it", async () => {
  const spec = createModel("grok-4.7", "high");
  const data = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "ZW5j" };
  const reply = createReply(spec, [
    { type: "extension", typeName: "openai.reasoning", data },
    { type: "text", text: "Yes." },
  ]);
  const request = richRequest(spec);
  const inputOf = async (of: typeof reply) => {
    const messages = [prompt("Hi"), of, prompt("And?")];
    const { body } = await sendToXai({ ...request, context: { ...request.context, messages } });
    return JSON.stringify(body["input"]);
  };
  assertEquals((await inputOf(reply)).includes("ZW5j"), true);
  assertEquals((await inputOf({ ...reply, modelId: "grok-4.6" })).includes("ZW5j"), false);
});
