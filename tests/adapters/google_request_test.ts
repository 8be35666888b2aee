import { assert, assertEquals, assertFalse } from "@std/assert";
import { createGoogle, type GoogleOptions } from "../../adapters/google/mod.ts";
import type { ContentBlock } from "../../src/core/content.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import type { LlmMessage } from "../../src/core/message.ts";
import type { ModelSpec, ThinkingLevel } from "../../src/core/model.ts";
import type { StreamOptions, StreamRequest, ToolSpec } from "../../src/core/stream.ts";
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

Deno.test("the rich conversation is the golden request to a Gemini that thinks by level", async () => {
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

Deno.test("the rich conversation of another model is the golden request to an older Gemini", async () => {
  const from = { provider: "anthropic", modelId: "claude-sonnet-4-5" };
  const { body, warnings } = await sendToGoogle(
    richRequest(createModel("gemini-2.5-flash", "low"), { from }),
  );
  assertEquals(warnings, []);
  assertGolden(body, "google/request_from_anthropic.json");
});

Deno.test("B 73: another model's thinking, signatures and items are left out", async () => {
  const from = { provider: "openai", modelId: "gpt-5" };
  const { body } = await sendToGoogle(richRequest(createModel("gemini-3.8-flash"), { from }));
  for (const mark of ["c2lnbmF0dXJl", "ZW5j", "commentary", "I need the files"]) {
    assertFalse(JSON.stringify(body).includes(mark), mark);
  }
});

Deno.test("signatures go back in the parts that they came with", async () => {
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

Deno.test("a call that is being answered and has no signature gets Google's stand-in", async () => {
  const other = { provider: "openai", modelId: "gpt-5" };
  const batch = [
    createReply(other, [createCall("c1", "foreign"), createCall("c2")]),
    createToolResult("c1", "read_file", [{ type: "text", text: "a" }]),
    createToolResult("c2", "read_file", [{ type: "text", text: "b" }]),
  ];
  const marks = async (modelId: string, messages: readonly LlmMessage[]) => {
    const { body } = await sendPrompt(createModel(modelId), { messages });
    return JSON.stringify(body).match(/"thoughtSignature":"[^"]*"/g) ?? [];
  };
  const mark = `"thoughtSignature":"${SIGNATURE_PLACEHOLDER}"`;
  assertEquals(await marks("gemini-3.8-flash", [prompt("Hi"), ...batch]), [mark]);
  assertEquals(await marks("gemini-3.8-flash", [prompt("Hi"), ...batch, prompt("And?")]), []);
  assertEquals(await marks("gemini-2.5-pro", [prompt("Hi"), ...batch]), []);
});

Deno.test("the results of a batch come together, with their images where the model sees them", async () => {
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

Deno.test("images go as bytes or by their address", async () => {
  const image = (url: string): ContentBlock => ({ type: "image", source: { type: "url", url } });
  const messages = [
    prompt(image("data:image/gif;base64,AAAA"), image("https://example.com/a.PNG?size=1")),
  ];
  const [content] = getContents(await sendPrompt(createModel("gemini-3.8-flash"), { messages }));
  assertEquals(content?.["parts"], [
    { inlineData: { mimeType: "image/gif", data: "AAAA" } },
    { fileData: { mimeType: "image/png", fileUri: "https://example.com/a.PNG?size=1" } },
  ]);
});

Deno.test("a conversation begins and ends with the user", async () => {
  const spec = createModel("gemini-3.8-flash");
  const reply = createReply(spec, [{ type: "text", text: "One, two" }]);
  const roles = getContents(await sendPrompt(spec, { messages: [reply] })).map(({ role }) => role);
  assertEquals(roles, ["user", "model", "user"]);
});

Deno.test("each level of thinking becomes a level or a budget that the model has", async () => {
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

Deno.test("a budget is the caller's where there is one, and leaves room for the answer", async () => {
  const spec = { ...createModel("gemini-2.5-flash", "high"), thinkingBudgets: { high: 5000 } };
  const budget = async (options: StreamOptions) =>
    getGenerationConfig(await sendPrompt(spec, { options }))["thinkingConfig"];
  assertEquals(await budget({}), { includeThoughts: true, thinkingBudget: 5000 });
  assertEquals(await budget({ maxTokens: 2048 }), { includeThoughts: true, thinkingBudget: 1024 });
});

Deno.test("the tool choice is mapped", async () => {
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

Deno.test("a schema for the reply goes along, but not beside the tools of an older model", async () => {
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

Deno.test("what Gemini cannot take is told", async () => {
  const told = async (modelId: string, options: StreamOptions, level: ThinkingLevel = "off") =>
    getWarningCodes(await sendPrompt(createModel(modelId, level), { options }));
  assertEquals(await told("gemini-4-argon", { temperature: 1 }), ["temperature_left_out"]);
  assertEquals(await told("gemini-3.8-flash", { cache: "long" }), ["cache_left_out"]);
  assertEquals(await told("gemini-3.8-flash", { maxTokens: 1e6 }), ["max_tokens_lowered"]);
  assertEquals(await told("gemini-2.0-flash", {}, "high"), ["unknown_model", "thinking_left_out"]);
});

Deno.test("the caller's own fields are beside the typed ones, which win", async () => {
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

Deno.test("B 65: empty content makes no empty part", async () => {
  const spec = createModel("gemini-2.5-pro");
  const messages = [prompt("", " "), createReply(spec, []), prompt("Hi")];
  const { body } = await sendPrompt(spec, { messages });
  assertEquals(body["contents"], [{ role: "user", parts: [{ text: "Hi" }] }]);
  assertFalse("tools" in body);
  assertFalse("systemInstruction" in body);
});

Deno.test("Vertex AI is asked with a token, at its own address", async () => {
  const baseUrl =
    "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google";
  const fetch = replayFetch({ status: 500 });
  const getToken = () => ({ token: "ya29.token", expiresOnTimestamp: Date.now() + 3_600_000 });
  const request = richRequest(createModel("gemini-3.8-flash"), { options: { apiKey: "" } });
  await readReply(createGoogle({ fetch, baseUrl, getToken })(request));
  const [asked] = fetch.requests;
  assertEquals(asked?.url, `${baseUrl}/models/gemini-3.8-flash:streamGenerateContent?alt=sse`);
  assertEquals(asked?.headers.get("authorization"), "Bearer ya29.token");
  assertEquals(asked?.headers.get("x-goog-api-key"), null);
});

Deno.test("a function whose name was changed for the wire is called by its own name", async () => {
  const names = ["2nd.tool", "list.all", "fine_name"];
  const tools = names.map((name) => ({ name, description: "", parameters: { type: "object" } }));
  const { body } = await sendPrompt(createModel("gemini-3.8-flash"), { tools });
  const wired = [...JSON.stringify(body["tools"]).matchAll(/"name":"([^"]*)"/g)].map(([, name]) =>
    name ?? ""
  );
  assert(wired.every((name) => /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name)), String(wired));
  const parts = wired.map((name) => ({ functionCall: { name, args: {} } }));
  const fetch = replayFetch(
    `data: ${JSON.stringify({ candidates: [{ content: { parts }, finishReason: "STOP" }] })}\n\n`,
  );
  const request = richRequest(createModel("gemini-3.8-flash"));
  const context = { ...request.context, tools };
  const { calls } = await readReply(createGoogle({ fetch })({ ...request, context }));
  assertEquals(calls.map(({ name }) => name).sort(), names.sort());
});
