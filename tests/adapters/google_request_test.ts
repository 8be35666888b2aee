import { assert, assertEquals, assertFalse } from "@std/assert";
import { createGoogle, type GoogleOptions } from "../../adapters/google/mod.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import type { ModelSpec, ThinkingLevel } from "../../src/core/models/model.ts";
import type { StreamOptions, StreamRequest, ToolSpec } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import {
  createReply,
  createToolResult,
  PIXEL,
  prompt,
  richRequest,
  TOOLS,
} from "./rich_conversation.ts";
import { assertGolden, captureRequest, type SentRequest } from "./sent_request.ts";

const SIGNATURE = "U0lHTkVE";
const SIGNATURE_PLACEHOLDER = "skip_thought_signature_validator";

function createModel(modelId: string, thinkingLevel: ThinkingLevel = "off"): ModelSpec {
  return { provider: "google", modelId, thinkingLevel };
}

function sendToGoogle(request: StreamRequest, options: GoogleOptions = {}): Promise<SentRequest> {
  return captureRequest((fetch) => createGoogle({ fetch, ...options }), request);
}

interface PromptSettings {
  readonly messages?: readonly LlmMessage[];
  readonly tools?: readonly ToolSpec[];
  readonly options?: StreamOptions;
}

function sendPrompt(
  spec: ModelSpec,
  { messages = [prompt("Hi")], tools = [], options = {} }: PromptSettings = {},
) {
  const request = richRequest(spec, { options });
  return sendToGoogle({ ...request, context: { systemPrompt: "", messages, tools } });
}

function getWarningCodes({ warnings }: SentRequest): string[] {
  return warnings.map(({ code }) => code);
}

function getContents({ body }: SentRequest): JsonObject[] {
  const { contents } = body;
  return Array.isArray(contents) ? contents.filter(isJsonObject) : [];
}

function getGenerationConfig({ body }: SentRequest): JsonObject {
  return isJsonObject(body["generationConfig"]) ? body["generationConfig"] : {};
}

function createCall(id: string, signature?: string): ContentBlock {
  const block = { type: "tool_call", id, name: "read_file", arguments: {} } as const;
  return signature === undefined ? block : { ...block, signature };
}

Deno.test("createGoogle(): sends the golden request to a model with thinking levels", async () => {
  const options = { temperature: 0.5, maxTokens: 100, toolChoice: "auto" } as const;
  const { url, headers, body, warnings } = await sendToGoogle(
    richRequest(createModel("gemini-3.8-flash", "high"), { options }),
  );
  assertEquals(
    url,
    "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
  );
  assertEquals(headers.get("x-goog-api-key"), "sk-test");
  assertEquals(warnings, []);
  assertGolden(body, "google/request.json");
});

Deno.test("createGoogle(): sends the golden request to an older model after replies of another provider", async () => {
  const from = { provider: "anthropic", modelId: "claude-sonnet-4-5" };
  const { body, warnings } = await sendToGoogle(
    richRequest(createModel("gemini-2.5-flash", "low"), { from }),
  );
  assertEquals(warnings, []);
  assertGolden(body, "google/request_from_anthropic.json");
});

Deno.test("createGoogle(): omits thinking, signatures and items of another provider [B73]", async () => {
  const from = { provider: "openai", modelId: "gpt-5" };
  const { body } = await sendToGoogle(richRequest(createModel("gemini-3.8-flash"), { from }));
  for (const text of ["c2lnbmF0dXJl", "ZW5j", "commentary", "I need the files"]) {
    assertFalse(JSON.stringify(body).includes(text), text);
  }
});

Deno.test("createGoogle(): sends signatures back in their own parts", async () => {
  const spec = createModel("gemini-3.8-flash", "high");
  const part = { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature: SIGNATURE };
  const reply = createReply(spec, [
    { type: "thinking", thinking: "Hm." },
    { type: "thinking", thinking: "Hm!", signature: SIGNATURE },
    { type: "text", text: "Look.", signature: SIGNATURE },
    { type: "extension", typeName: "google.part", data: part },
    createCall("c1", SIGNATURE),
    createCall("c2"),
    { type: "text", text: "", signature: SIGNATURE },
  ]);
  const [, content] = getContents(await sendPrompt(spec, { messages: [prompt("Hi"), reply] }));
  const functionCall = { name: "read_file", args: {} };
  assertEquals(content?.["parts"], [
    { text: "Hm!", thought: true, thoughtSignature: SIGNATURE },
    { text: "Look.", thoughtSignature: SIGNATURE },
    part,
    { functionCall: { id: "c1", ...functionCall }, thoughtSignature: SIGNATURE },
    { functionCall: { id: "c2", ...functionCall } },
    { text: "", thoughtSignature: SIGNATURE },
  ]);
});

Deno.test("createGoogle(): adds the same placeholder signature to an unsigned call in every request", async () => {
  const other = { provider: "openai", modelId: "gpt-5" };
  const batch = [
    createReply(other, [createCall("c1", "foreign"), createCall("c2")]),
    createToolResult("c1", "read_file", [{ type: "text", text: "a" }]),
    createToolResult("c2", "read_file", [{ type: "text", text: "b" }]),
  ];
  const sendSignatures = async (modelId: string, messages: readonly LlmMessage[]) => {
    const { body } = await sendPrompt(createModel(modelId), { messages });
    return JSON.stringify(body).match(/"thoughtSignature":"[^"]*"/g) ?? [];
  };
  const placeholder = `"thoughtSignature":"${SIGNATURE_PLACEHOLDER}"`;
  assertEquals(await sendSignatures("gemini-3.8-flash", [prompt("Hi"), ...batch]), [placeholder]);
  assertEquals(
    await sendSignatures("gemini-3.8-flash", [prompt("Hi"), ...batch, prompt("And?")]),
    [placeholder],
  );
  assertEquals(await sendSignatures("gemini-2.5-pro", [prompt("Hi"), ...batch]), []);
});

Deno.test("createGoogle(): sends the results of a batch in one message, with images where supported", async () => {
  const messages = (spec: ModelSpec) => [
    prompt("Hi"),
    createReply(spec, [createCall("c1", SIGNATURE), createCall("c2")]),
    createToolResult("c1", "read_file", [{ type: "text", text: "a" }, PIXEL]),
    createToolResult("c2", "read_file", [{ type: "text", text: "no" }], true),
    prompt("Wait"),
  ];
  const inlineData = { mimeType: "image/png", data: "iVBORw0KGgo=" };
  const first = (parts?: unknown[]) => ({
    functionResponse: {
      id: "c1",
      name: "read_file",
      response: { output: "a" },
      ...(parts && { parts }),
    },
  });
  const second = {
    functionResponse: { id: "c2", name: "read_file", response: { error: "no" } },
  };
  const user = (...parts: unknown[]) => ({ role: "user", parts });
  const newer = createModel("gemini-3.8-flash");
  assertEquals(getContents(await sendPrompt(newer, { messages: messages(newer) })).slice(2), [
    user(first([{ inlineData }]), second),
    user({ text: "Wait" }),
  ]);
  const older = createModel("gemini-2.5-pro");
  assertEquals(getContents(await sendPrompt(older, { messages: messages(older) })).slice(2), [
    user(first(), second),
    user({ text: "Images from read_file:" }, { inlineData }),
    user({ text: "Wait" }),
  ]);
});

Deno.test("createGoogle(): sends images as data or as URLs", async () => {
  const image = (url: string): ContentBlock => ({ type: "image", source: { type: "url", url } });
  const messages = [
    prompt(image("data:image/webp;base64,AAAA"), image("https://example.com/a.PNG?size=1")),
  ];
  const [content] = getContents(await sendPrompt(createModel("gemini-3.8-flash"), { messages }));
  assertEquals(content?.["parts"], [
    { inlineData: { mimeType: "image/webp", data: "AAAA" } },
    { fileData: { mimeType: "image/png", fileUri: "https://example.com/a.PNG?size=1" } },
  ]);
});

Deno.test("createGoogle(): starts and ends the contents with the user", async () => {
  const spec = createModel("gemini-3.8-flash");
  const reply = createReply(spec, [{ type: "text", text: "One, two" }]);
  const roles = getContents(await sendPrompt(spec, { messages: [reply] })).map(({ role }) => role);
  assertEquals(roles, ["user", "model", "user"]);
});

Deno.test("createGoogle(): maps each thinking level to a level or budget of the model", async () => {
  const levels = ["off", "minimal", "low", "medium", "high", "extra_high"] as const;
  const configs = async (modelId: string, field: string) => {
    const found: unknown[] = [];
    for (const level of levels) {
      const { thinkingConfig } = getGenerationConfig(await sendPrompt(createModel(modelId, level)));
      found.push(isJsonObject(thinkingConfig) ? thinkingConfig[field] : undefined);
    }
    return found;
  };
  const shown = [undefined, true, true, true, true, true];
  assertEquals(await configs("gemini-3.8-flash", "includeThoughts"), shown);
  assertEquals(await configs("gemini-3.8-flash", "thinkingLevel"), [
    "LOW",
    "LOW",
    "LOW",
    "MEDIUM",
    "HIGH",
    "HIGH",
  ]);
  assertEquals((await configs("gemini-3-flash-preview", "thinkingLevel"))[0], "MINIMAL");
  assertEquals((await configs("gemini-99-ultra", "thinkingLevel")).slice(0, 3), [
    undefined,
    "LOW",
    "LOW",
  ]);
  assertEquals(await configs("gemini-2.5-flash", "thinkingBudget"), [
    0,
    1024,
    4096,
    10_240,
    20_480,
    24_576,
  ]);
  assertEquals((await configs("gemini-2.5-pro", "thinkingBudget"))[0], 128);
  assertEquals(await configs("gemini-2.0-flash", "thinkingBudget"), Array(6).fill(undefined));
});

Deno.test("createGoogle(): uses the caller's thinking budget and reserves tokens for the answer", async () => {
  const spec = { ...createModel("gemini-2.5-flash", "high"), thinkingBudgets: { high: 5000 } };
  const budget = async (options: StreamOptions) =>
    getGenerationConfig(await sendPrompt(spec, { options }))["thinkingConfig"];
  assertEquals(await budget({}), { includeThoughts: true, thinkingBudget: 5000 });
  assertEquals(await budget({ maxTokens: 2048 }), { includeThoughts: true, thinkingBudget: 1024 });
});

Deno.test("createGoogle(): maps the tool choice", async () => {
  const found: unknown[] = [];
  for (const toolChoice of ["auto", "none", "required", { name: "list.all" }] as const) {
    const { body } = await sendPrompt(createModel("gemini-3.8-flash"), {
      tools: TOOLS,
      options: { toolChoice },
    });
    found.push(body["toolConfig"]);
  }
  assertEquals(found, [
    { functionCallingConfig: { mode: "AUTO" } },
    { functionCallingConfig: { mode: "NONE" } },
    { functionCallingConfig: { mode: "ANY" } },
    { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["list_all_01wet6z2"] } },
  ]);
});

Deno.test("createGoogle(): sends the response schema unless an older model has tools", async () => {
  const options = { responseSchema: { type: "object", properties: { a: { type: "string" } } } };
  const format = async (modelId: string, tools: readonly ToolSpec[]) => {
    const request = await sendPrompt(createModel(modelId), { tools, options });
    const { responseMimeType, responseSchema } = getGenerationConfig(request);
    return [responseMimeType, responseSchema, getWarningCodes(request)];
  };
  const schema = { type: "OBJECT", properties: { a: { type: "STRING" } } };
  assertEquals(await format("gemini-3.8-flash", TOOLS), ["application/json", schema, []]);
  assertEquals(await format("gemini-2.5-pro", []), ["application/json", schema, []]);
  assertEquals(await format("gemini-2.5-pro", TOOLS), [
    undefined,
    undefined,
    ["response_schema_left_out"],
  ]);
});

Deno.test("createGoogle(): warns about options that the model does not support", async () => {
  const warnings = async (modelId: string, options: StreamOptions, level: ThinkingLevel = "off") =>
    getWarningCodes(await sendPrompt(createModel(modelId, level), { options }));
  assertEquals(await warnings("gemini-4-argon", { temperature: 1 }), ["temperature_left_out"]);
  assertEquals(await warnings("gemini-3.8-flash", { cache: "long" }), ["cache_left_out"]);
  assertEquals(await warnings("gemini-3.8-flash", { maxTokens: 1e6 }), ["max_tokens_lowered"]);
  // A longer reply needs several requests.
  assertEquals(await warnings("gemini-4-argon", { maxTokens: 65_537 }), ["max_tokens_lowered"]);
  assertEquals(await warnings("gemini-2.0-flash", {}, "high"), [
    "unknown_model",
    "thinking_left_out",
  ]);
});

Deno.test("createGoogle(): adds extra fields, which do not replace typed options", async () => {
  const request = await sendPrompt(createModel("gemini-3.8-flash"), {
    options: {
      temperature: 0.1,
      extra: {
        generationConfig: { temperature: 1, topP: 0.9 },
        safetySettings: [{ category: "x" }],
        contents: [],
      },
    },
  });
  const { temperature, topP } = getGenerationConfig(request);
  assertEquals([temperature, topP], [0.1, 0.9]);
  assertEquals(request.body["safetySettings"], [{ category: "x" }]);
  assertEquals(getContents(request).length, 1);
  assertEquals(getWarningCodes(request), ["extra_left_out", "extra_left_out"]);
});

Deno.test("createGoogle(): omits empty content [B65]", async () => {
  const spec = createModel("gemini-2.5-pro");
  const messages = [prompt("", " "), createReply(spec, []), prompt("Hi")];
  const { body } = await sendPrompt(spec, { messages });
  assertEquals(body["contents"], [{ role: "user", parts: [{ text: "Hi" }] }]);
  assertFalse("tools" in body);
  assertFalse("systemInstruction" in body);
});

Deno.test("createGoogle(): sends requests with an access token to Vertex AI", async () => {
  const baseUrl =
    "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google";
  const fetch = replayFetch({ status: 500 });
  const getToken = () => ({ token: "ya29.token", expiresOnTimestamp: Date.now() + 3_600_000 });
  const request = richRequest(createModel("gemini-3.8-flash"), { options: { apiKey: "" } });
  await readReply(createGoogle({ fetch, baseUrl, getToken })(request));
  const [sent] = fetch.requests;
  assertEquals(sent?.url, `${baseUrl}/models/gemini-3.8-flash:streamGenerateContent?alt=sse`);
  assertEquals(sent?.headers.get("authorization"), "Bearer ya29.token");
  assertEquals(sent?.headers.get("x-goog-api-key"), null);
});

Deno.test("createGoogle(): restores tool names that were encoded for the request", async () => {
  const names = ["2nd.tool", "list.all", "fine_name"];
  const tools = names.map((name) => ({ name, description: "", parameters: { type: "object" } }));
  const { body } = await sendPrompt(createModel("gemini-3.8-flash"), { tools });
  const wireNames = [...JSON.stringify(body["tools"]).matchAll(/"name":"([^"]*)"/g)]
    .map(([, name]) => name ?? "");
  assert(
    wireNames.every((name) => /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name)),
    String(wireNames),
  );
  const parts = wireNames.map((name) => ({ functionCall: { name, args: {} } }));
  const fetch = replayFetch(
    `data: ${JSON.stringify({ candidates: [{ content: { parts }, finishReason: "STOP" }] })}\n\n`,
  );
  const request = richRequest(createModel("gemini-3.8-flash"));
  const context = { ...request.context, tools };
  const { calls } = await readReply(createGoogle({ fetch })({ ...request, context }));
  assertEquals(calls.map(({ name }) => name).sort(), names.sort());
});

Deno.test("createGoogle(): merges the alternatives at the root of a tool's schema", async () => {
  const path = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
  const url = { type: "object", properties: { url: { type: "string" } }, required: ["url"] };
  const tools = [{ name: "open", description: "Opens.", parameters: { anyOf: [path, url] } }];
  const { body } = await sendPrompt(createModel("gemini-3.8-flash"), { tools });
  assertEquals(body["tools"], [{
    functionDeclarations: [{
      name: "open",
      description: "Opens.",
      parameters: {
        type: "OBJECT",
        description: "Requires one of these sets of properties: (path), (url).",
        properties: { path: { type: "STRING" }, url: { type: "STRING" } },
      },
    }],
  }]);
});

Deno.test("createGoogle(): Gemma up to version 3 gets the system prompt in its first prompt, because it rejects instructions", async () => {
  const send = async (modelId: string, systemPrompt: string, messages = [prompt("Hi")]) => {
    const context = { systemPrompt, messages, tools: [] };
    const { body } = await sendToGoogle({ ...richRequest(createModel(modelId)), context });
    return [body["systemInstruction"], body["contents"]];
  };
  const brief = { text: "Be brief." };
  const hi = { text: "Hi" };
  for (const modelId of ["gemma-3-27b-it", "gemma-3n-e4b-it", "models/gemma-2-9b-it"]) {
    assertEquals(await send(modelId, brief.text), [
      undefined,
      [{ role: "user", parts: [brief, hi] }],
    ]);
    assertEquals(await send(modelId, " "), [undefined, [{ role: "user", parts: [hi] }]]);
  }
  for (const modelId of ["gemma-4-31b-it", "gemini-2.5-flash", "my-gemma-3"]) {
    assertEquals(await send(modelId, brief.text), [
      { parts: [brief] },
      [{ role: "user", parts: [hi] }],
    ]);
  }
  const reply = createReply(createModel("gemma-3-27b-it"), [{ type: "text", text: "Hello" }]);
  assertEquals(await send("gemma-3-27b-it", brief.text, [reply, prompt("Hi")]), [undefined, [
    { role: "user", parts: [brief, { text: "(The conversation goes on.)" }] },
    { role: "model", parts: [{ text: "Hello" }] },
    { role: "user", parts: [hi] },
  ]]);
});

Deno.test("createGoogle(): the key of a request is sent as a key, also with getToken", async () => {
  const model = createModel("gemini-2.5-flash");
  const send = async (options: StreamOptions) => {
    const request = { ...richRequest(model), options };
    const { headers } = await sendToGoogle(request, { getToken: () => "my-token" });
    return [headers.get("x-goog-api-key"), headers.get("authorization")];
  };
  assertEquals(await send({ apiKey: "my-key" }), ["my-key", null]);
  assertEquals(await send({}), [null, "Bearer my-token"]);
});

Deno.test("createGoogle(): documents of text are plain text, the only one that Vertex AI accepts, unless Google fetches them", async () => {
  const types = ["text/markdown", "text/csv", "text/html", "application/json", "application/pdf"];
  const url = "gs://bucket/notes.md";
  const content = [
    ...types.map((mediaType): ContentBlock => ({
      type: "document",
      mediaType,
      source: { type: "base64", data: "SGk=" },
    })),
    { type: "document", mediaType: "text/markdown", source: { type: "url", url } } as const,
  ];
  const { body } = await sendPrompt(createModel("gemini-3-flash-preview"), {
    messages: [{ ...prompt(""), content }],
  });
  assertEquals(body["contents"], [{
    role: "user",
    parts: [
      ...["text/plain", "text/plain", "text/plain", "text/plain", "application/pdf"]
        .map((mimeType) => ({ inlineData: { mimeType, data: "SGk=" } })),
      { fileData: { mimeType: "text/markdown", fileUri: url } },
    ],
  }]);
});
