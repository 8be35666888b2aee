import { assert, assertEquals, assertFalse } from "@std/assert";
import { catalog } from "../../adapters/catalog/catalog.ts";
import { createOllama, type OllamaOptions } from "../../adapters/ollama/mod.ts";
import type { ModelSpec, ThinkingLevel } from "../../src/core/models/model.ts";
import type { StreamOptions, StreamRequest } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { createReply, prompt, richRequest, TOOLS } from "./rich_conversation.ts";
import { assertGolden, captureRequest, type SentRequest } from "./sent_request.ts";

function createModel(modelId: string, thinkingLevel: ThinkingLevel = "off"): ModelSpec {
  return { provider: "ollama", modelId, thinkingLevel };
}

function sendToOllama(request: StreamRequest, options: OllamaOptions = {}): Promise<SentRequest> {
  return captureRequest((fetch) => createOllama({ fetch, ...options }), request);
}

function sendPrompt(spec: ModelSpec, options: StreamOptions = {}): Promise<SentRequest> {
  const request = richRequest(spec, { options });
  return sendToOllama({ ...request, context: { ...request.context, messages: [prompt("Hi")] } });
}

function getWarningCodes({ warnings }: SentRequest): string[] {
  return warnings.map(({ code }) => code);
}

Deno.test("createOllama(): sends the golden request", async () => {
  const options = {
    temperature: 0.5,
    maxTokens: 100,
    toolChoice: "auto",
    extra: { keep_alive: "10m", options: { top_k: 20 } },
  } as const;
  const request = richRequest(createModel("qwen3:8b", "high"), { options });
  const { url, headers, body, warnings } = await sendToOllama(request, { contextWindow: 32_768 });
  assertEquals(url, "http://localhost:11434/api/chat");
  assertEquals(headers.get("authorization"), "Bearer sk-test");
  assertEquals(warnings, []);
  assertGolden(body, "ollama/request.json");
});

Deno.test("createOllama(): sends the effort of a thinking level, and turns off models that think by default [A137]", async () => {
  const think = async (spec: ModelSpec) => (await sendPrompt(spec)).body["think"];
  assertEquals(await think(createModel("qwen3:8b")), false);
  assertEquals(await think(createModel("gpt-oss:20b")), undefined);
  assertEquals(await think(createModel("llama3.2")), undefined);
  assertEquals(await think(createModel("qwen3:8b", "low")), true);
  assertEquals(await think(createModel("gpt-oss:20b", "minimal")), "low");
  assertEquals(await think(createModel("gpt-oss:120b-cloud", "medium")), "medium");
  assertEquals(await think(createModel("gpt-oss:20b", "extra_high")), "high");
});

Deno.test("createOllama(): applies the model's entry in the caller's catalog", async () => {
  const entry = {
    contextWindow: 8192,
    maxOutput: 8192,
    thinking: { type: "none" },
    images: false,
    strictSchema: true,
  } as const;
  const own = { catalog: { ...catalog, "ollama/blind": entry } };
  const request = await sendToOllama(richRequest(createModel("blind", "high")), own);
  assertEquals(getWarningCodes(request), ["images_left_out", "thinking_left_out"]);
  assertFalse("think" in request.body);
  assertFalse(JSON.stringify(request.body).includes("iVBORw0KGgo="));
});

Deno.test("createOllama(): sends thinking back only to the model that wrote it [B73]", async () => {
  const own = await sendToOllama(richRequest(createModel("qwen3:8b")));
  assert(JSON.stringify(own.body).includes('"thinking":"I need the files."'));
  const from = { provider: "anthropic", modelId: "claude-sonnet-4-5" };
  const foreign = JSON.stringify(
    (await sendToOllama(richRequest(createModel("qwen3:8b"), { from }))).body,
  );
  for (const text of ["I need the files.", "c2lnbmF0dXJl", "ZW5jcnlwdGVk", "commentary"]) {
    assertFalse(foreign.includes(text), text);
  }
});

Deno.test("createOllama(): adds extra options, which do not replace typed options [A137]", async () => {
  const request = await sendPrompt(createModel("qwen3:8b"), {
    temperature: 0.1,
    responseSchema: { type: "object" },
    extra: { model: "other", truncate: true, options: { temperature: 0.9, seed: 7 } },
  });
  const { body } = request;
  assertEquals(body["options"], { temperature: 0.1, seed: 7 });
  assertEquals(body["format"], { type: "object" });
  assertEquals([body["model"], body["truncate"]], ["qwen3:8b", true]);
  assertEquals(getWarningCodes(request), ["extra_left_out", "extra_left_out"]);
});

Deno.test('createOllama(): warns about a forced tool choice, and omits the tools for "none"', async () => {
  for (const toolChoice of ["required", { name: "read_file" }] as const) {
    const request = await sendPrompt(createModel("qwen3:8b"), { toolChoice });
    assertEquals(getWarningCodes(request), ["tool_choice_left_out"]);
    assertFalse("tool_choice" in request.body);
  }
  const none = await sendPrompt(createModel("qwen3:8b"), { toolChoice: "none" });
  assertEquals([none.body["tools"], getWarningCodes(none)], [undefined, []]);
});

Deno.test("createOllama(): warns about the long cache", async () => {
  assertEquals(getWarningCodes(await sendPrompt(createModel("qwen3:8b"), { cache: "long" })), [
    "cache_left_out",
  ]);
  assertEquals(getWarningCodes(await sendPrompt(createModel("qwen3:8b"), { cache: "off" })), []);
});

Deno.test("createOllama(): sends images as base64, and replaces an image URL with a warning", async () => {
  const image = (url: string) => ({ type: "image", source: { type: "url", url } }) as const;
  const request = richRequest(createModel("gemma3"));
  const messages = [
    prompt(image("data:image/png;base64,AAAA")),
    prompt("Look", image("https://example.com/a.png")),
  ];
  const { body, warnings } = await sendToOllama({
    ...request,
    context: { ...request.context, messages },
  });
  assertEquals(body["messages"], [
    { role: "system", content: "Be brief." },
    { role: "user", content: "", images: ["AAAA"] },
    { role: "user", content: "Look\n\n(an image that this model cannot see)" },
  ]);
  assertEquals(warnings.map(({ code }) => code), ["images_left_out"]);
});

Deno.test("createOllama(): fails with bad_request when an image file was not read", async () => {
  const image = { type: "image", source: { type: "file", path: "a.png" } } as const;
  const request = richRequest(createModel("gemma3"));
  const context = { ...request.context, messages: [prompt(image)] };
  const fetch = replayFetch([]);
  const { error } = await readReply(createOllama({ fetch })({ ...request, context }));
  assertEquals([error?.code, fetch.requests.length], ["bad_request", 0]);
});

Deno.test("createOllama(): accepts a baseUrl in the format of OLLAMA_HOST", async () => {
  const url = async (baseUrl: string) =>
    (await sendToOllama(richRequest(createModel("x")), { baseUrl })).url;
  assertEquals(await url("http://box:1/"), "http://box:1/api/chat");
  assertEquals(await url("https://ollama.com/api"), "https://ollama.com/api/chat");
  assertEquals(await url("http://localhost:11434/v1"), "http://localhost:11434/api/chat");
  assertEquals(await url("box"), "http://box:11434/api/chat");
  assertEquals(await url("0.0.0.0:1234"), "http://127.0.0.1:1234/api/chat");
});

Deno.test("createOllama(): sends no authorization header without a key", async () => {
  const request = richRequest(createModel("qwen3:8b"), { options: { apiKey: "" } });
  assertEquals((await sendToOllama(request)).headers.get("authorization"), null);
});

Deno.test("createOllama(): omits empty content [B65]", async () => {
  const spec = createModel("qwen3:8b");
  const messages = [prompt("", " "), createReply(spec, []), prompt("Hi")];
  const request = richRequest(spec);
  const { body } = await sendToOllama({
    ...request,
    context: { systemPrompt: " ", messages, tools: [] },
  });
  assertEquals(body["messages"], [{ role: "user", content: "Hi" }]);
  assertFalse("tools" in body);
  assertFalse("options" in body);
});

Deno.test("createOllama(): sends equal requests for equal tools in any order", async () => {
  const request = richRequest(createModel("qwen3:8b"));
  const reversed = { ...request.context, tools: [...TOOLS].reverse() };
  assertEquals(
    (await sendToOllama({ ...request, context: reversed })).body,
    (await sendToOllama(request)).body,
  );
});

Deno.test("createOllama(): restores tool names that were encoded for the request", async () => {
  const fetch = replayFetch({
    headers: { "content-type": "application/x-ndjson" },
    body: '{"message":{"tool_calls":[{"function":{"name":"list_all_01wet6z2"}}]},"done":true}\n',
  });
  const { calls } = await readReply(createOllama({ fetch })(richRequest(createModel("qwen3:8b"))));
  assertEquals(calls.map(({ name }) => name), ["list.all"]);
});

Deno.test("createOllama(): a reply whose end has no reason, as from older servers, is complete without a warning", async () => {
  for (const end of [{}, { done_reason: "" }, { done_reason: null }]) {
    const line = JSON.stringify({ message: { content: "Hi" }, done: true, ...end });
    const streamFn = createOllama({ fetch: replayFetch(`${line}\n`) });
    const { stopReason, warnings } = await readReply(
      streamFn(richRequest({ provider: "ollama", modelId: "m", thinkingLevel: "off" })),
    );
    assertEquals(stopReason, "stop");
    assertEquals(warnings.filter(({ code }) => code === "unknown_stop_reason"), []);
  }
});

Deno.test("createOllama(): the description of a parameter has the members that the server drops", async () => {
  const Point = { type: "object", properties: { x: { type: "number" } } };
  const parameters = {
    type: "object",
    properties: { at: { $ref: "#/$defs/Point" } },
    $defs: { Point },
  };
  const request = richRequest(createModel("qwen3:8b"));
  const tools = [{ name: "move", description: "Moves.", parameters }];
  const { body } = await sendToOllama({ ...request, context: { ...request.context, tools } });
  const at = { ...Point, description: '{"properties":{"x":{"type":"number"}}}' };
  assertEquals(body["tools"], [{
    type: "function",
    function: {
      name: "move",
      description: "Moves.",
      parameters: { type: "object", properties: { at } },
    },
  }]);
});
