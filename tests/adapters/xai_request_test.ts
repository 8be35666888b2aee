import { assertEquals, assertFalse } from "@std/assert";
import { createXai, type XaiOptions } from "../../adapters/xai/mod.ts";
import type { ModelSpec, ThinkingLevel } from "../../src/core/model.ts";
import type { StreamOptions, StreamRequest } from "../../src/core/stream.ts";
import { prompt, replyOf, richRequest } from "./rich_conversation.ts";
import { assertGolden, type SentRequest, sentRequest } from "./sent_request.ts";

function model(modelId: string, thinkingLevel: ThinkingLevel = "off"): ModelSpec {
  return { provider: "xai", modelId, thinkingLevel };
}

function sent(request: StreamRequest, options: XaiOptions = {}): Promise<SentRequest> {
  return sentRequest((fetch) => createXai({ fetch, ...options }), request);
}

function ask(spec: ModelSpec, options: StreamOptions = {}): Promise<SentRequest> {
  const request = richRequest(spec, { options });
  return sent({ ...request, context: { ...request.context, messages: [prompt("Hi")] } });
}

Deno.test("the rich conversation is the golden request to xAI's chat completions", async () => {
  const options = { temperature: 0.5, maxTokens: 100, sessionId: "session-1" };
  const request = richRequest(model("grok-3-mini", "low"), { options });
  const { url, headers, body, warnings } = await sent(request);
  assertEquals(url, "https://api.x.ai/v1/chat/completions");
  assertEquals(headers.get("authorization"), "Bearer sk-test");
  assertEquals(headers.get("x-grok-conv-id"), "session-1");
  assertEquals(warnings.map(({ code }) => code), ["unknown_model"]);
  assertGolden(body, "xai/chat_request.json");
});

Deno.test("the rich conversation is the golden request to xAI's responses", async () => {
  const options = { temperature: 0.5, maxTokens: 100, sessionId: "session-1" };
  const { url, headers, body, warnings } = await sent(
    richRequest(model("grok-4.7", "extra_high"), { options }),
  );
  assertEquals(url, "https://api.x.ai/v1/responses");
  assertEquals(headers.get("x-grok-conv-id"), null);
  assertEquals(warnings, []);
  assertGolden(body, "xai/responses_request.json");
});

Deno.test("the API is the one that the catalog names, unless the caller does", async () => {
  const urlOf = async (spec: ModelSpec, options?: XaiOptions) =>
    (await sent(richRequest(spec), options)).url.replace("https://api.x.ai/v1/", "");
  assertEquals(await urlOf(model("grok-4.6")), "responses");
  assertEquals(await urlOf(model("grok-code-fast-1")), "chat/completions");
  assertEquals(await urlOf(model("grok-4.6"), { api: "chat" }), "chat/completions");
  assertEquals(await urlOf(model("grok-code-fast-1"), { api: "responses" }), "responses");
});

Deno.test("each level of thinking becomes an effort that the model has", async () => {
  const efforts = async (modelId: string) => {
    const found: unknown[] = [];
    for (const level of ["off", "minimal", "medium", "extra_high"] as const) {
      found.push((await ask(model(modelId, level))).body["reasoning"]);
    }
    return found.map((reasoning) => reasoning && Reflect.get(Object(reasoning), "effort"));
  };
  assertEquals(await efforts("grok-4.7"), ["low", "low", "medium", "xhigh"]);
  assertEquals(await efforts("grok-4.3"), ["none", "low", "medium", "high"]);
  assertEquals(await efforts("grok-build-0.1"), Array(4).fill(undefined));
  const told = await ask(model("grok-build-0.1", "high"));
  assertEquals(told.warnings.map(({ code }) => code), ["thinking_left_out"]);
});

Deno.test("a conversation whose name is no header goes without it", async () => {
  const { headers } = await ask(model("grok-3-mini"), { sessionId: "Zürich\n1" });
  assertFalse(headers.has("x-grok-conv-id"));
});

Deno.test("encrypted reasoning goes back to the model that had it", async () => {
  const spec = model("grok-4.7", "high");
  const data = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "ZW5j" };
  const reply = replyOf(spec, [
    { type: "extension", typeName: "openai.reasoning", data },
    { type: "text", text: "Yes." },
  ]);
  const request = richRequest(spec);
  const inputOf = async (of: typeof reply) => {
    const messages = [prompt("Hi"), of, prompt("And?")];
    const { body } = await sent({ ...request, context: { ...request.context, messages } });
    return JSON.stringify(body["input"]);
  };
  assertEquals((await inputOf(reply)).includes("ZW5j"), true);
  assertEquals((await inputOf({ ...reply, modelId: "grok-4.6" })).includes("ZW5j"), false);
});
