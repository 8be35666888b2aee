import { assert, assertEquals, assertFalse } from "@std/assert";
import { createOpenAI, type OpenAIOptions } from "../../adapters/openai/mod.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import type { ModelSpec, ThinkingLevel } from "../../src/core/models/model.ts";
import type { StreamOptions, StreamRequest } from "../../src/core/streams/stream.ts";
import { createReply, createToolResult, prompt, richRequest, TOOLS } from "./rich_conversation.ts";
import { assertGolden, captureRequest, type SentRequest } from "./sent_request.ts";

function createModel(modelId: string, thinkingLevel: ThinkingLevel = "off"): ModelSpec {
  return { provider: "openai", modelId, thinkingLevel };
}

function sendToOpenAI(request: StreamRequest, options: OpenAIOptions = {}): Promise<SentRequest> {
  return captureRequest((fetch) => createOpenAI({ fetch, ...options }), request);
}

interface PromptSettings extends OpenAIOptions {
  readonly options?: StreamOptions;
}

function sendPrompt(
  spec: ModelSpec,
  { options = {}, ...adapter }: PromptSettings = {},
): Promise<SentRequest> {
  const request = richRequest(spec, { options });
  const context = { ...request.context, messages: [prompt("Hi")] };
  return sendToOpenAI({ ...request, context }, adapter);
}

function getWarningCodes({ warnings }: SentRequest): string[] {
  return warnings.map(({ code }) => code);
}

const LOCAL = { baseUrl: "http://localhost:1234/v1" };

Deno.test("createOpenAI(): chat completions request of the rich conversation matches the golden file", async () => {
  const { url, headers, body, warnings } = await sendToOpenAI(richRequest(createModel("gpt-4o")));
  assertEquals(url, "https://api.openai.com/v1/chat/completions");
  assertEquals(headers.get("authorization"), "Bearer sk-test");
  assertEquals(warnings, []);
  assertGolden(body, "openai/chat_request.json");
});

Deno.test("createOpenAI(): Responses API request of the rich conversation matches the golden file", async () => {
  const { url, body, warnings } = await sendToOpenAI(richRequest(createModel("gpt-5.4", "high")));
  assertEquals(url, "https://api.openai.com/v1/responses");
  assertEquals(warnings, []);
  assertGolden(body, "openai/responses_request.json");
});

Deno.test("createOpenAI(): omits thinking, signatures and items of another provider [B73]", async () => {
  const from = { provider: "anthropic", modelId: "claude-sonnet-4-5" };
  for (const api of ["chat", "responses"] as const) {
    const { body } = await sendToOpenAI(richRequest(createModel("gpt-5.4"), { from }), { api });
    for (const data of ["c2lnbmF0dXJl", "ZW5jcnlwdGVk", "commentary", "I need the files"]) {
      assertFalse(JSON.stringify(body).includes(data), `${api}: ${data}`);
    }
  }
});

Deno.test("createOpenAI(): calls the API of the catalog entry at OpenAI, and chat completions at other servers", async () => {
  const getUrl = async (spec: ModelSpec, options?: PromptSettings) =>
    (await sendPrompt(spec, options)).url;
  const openai = "https://api.openai.com/v1";
  assertEquals(await getUrl(createModel("gpt-5")), `${openai}/responses`);
  assertEquals(await getUrl(createModel("gpt-4o-mini")), `${openai}/chat/completions`);
  assertEquals(await getUrl(createModel("gpt-new")), `${openai}/responses`);
  assertEquals(await getUrl(createModel("gpt-5"), { api: "chat" }), `${openai}/chat/completions`);
  assertEquals(
    await getUrl(createModel("gpt-5"), LOCAL),
    "http://localhost:1234/v1/chat/completions",
  );
  assertEquals(
    await getUrl(createModel("gpt-5"), { ...LOCAL, api: "responses" }),
    "http://localhost:1234/v1/responses",
  );
});

Deno.test("createOpenAI(): maps thinking levels to supported efforts", async () => {
  const levels = ["off", "minimal", "low", "medium", "high", "extra_high"] as const;
  const getEfforts = async (modelId: string, options?: PromptSettings) => {
    const found: unknown[] = [];
    for (const level of levels) {
      const { body } = await sendPrompt(createModel(modelId, level), { api: "chat", ...options });
      found.push(body["reasoning_effort"]);
    }
    return found;
  };
  assertEquals(await getEfforts("gpt-5.4"), ["none", "low", "low", "medium", "high", "xhigh"]);
  assertEquals(await getEfforts("gpt-5"), ["minimal", "minimal", "low", "medium", "high", "high"]);
  assertEquals(await getEfforts("o3"), ["low", "low", "low", "medium", "high", "high"]);
  assertEquals(await getEfforts("gpt-4o"), Array(6).fill(undefined));
  assertEquals(await getEfforts("a-local-model", LOCAL), [
    undefined,
    "minimal",
    "low",
    "medium",
    "high",
    "xhigh",
  ]);
});

Deno.test("createOpenAI(): requests encrypted reasoning, and a summary unless thinking is off", async () => {
  const thinking = await sendPrompt(createModel("gpt-5.4", "high"));
  assertEquals(thinking.body["reasoning"], { effort: "high", summary: "auto" });
  assertEquals(thinking.body["include"], ["reasoning.encrypted_content"]);
  const off = await sendPrompt(createModel("gpt-5.4"));
  assertEquals(off.body["reasoning"], { effort: "none" });
  // A model that is not in the catalog reasons or not by its name.
  const unknown = await sendPrompt(createModel("gpt-9-new"));
  assertEquals(unknown.body["reasoning"], undefined);
  assertEquals(unknown.body["include"], ["reasoning.encrypted_content"]);
  const chat = await sendPrompt(createModel("gpt-9-chat-new"));
  assertEquals(chat.body["include"], undefined);
});

Deno.test("createOpenAI(): sends maxTokens in the field of the API and lowers it to the model's limit", async () => {
  const options = { maxTokens: 100 };
  assertEquals(
    (await sendPrompt(createModel("gpt-4o"), { options })).body["max_completion_tokens"],
    100,
  );
  assertEquals(
    (await sendPrompt(createModel("gpt-4o"), { options, ...LOCAL })).body["max_tokens"],
    100,
  );
  assertEquals(
    (await sendPrompt(createModel("gpt-5"), { options })).body["max_output_tokens"],
    100,
  );
  const lowered = await sendPrompt(createModel("gpt-4o"), { options: { maxTokens: 1_000_000 } });
  assertEquals([lowered.body["max_completion_tokens"], getWarningCodes(lowered)], [16_384, [
    "max_tokens_lowered",
  ]]);
});

Deno.test("responses: raises maxTokens to the minimum of the API with a warning", async () => {
  const send = (maxTokens: number, api: "chat" | "responses" = "responses") =>
    sendPrompt(createModel("gpt-4o"), { api, options: { maxTokens } });
  const raised = await send(5);
  assertEquals(raised.body["max_output_tokens"], 16);
  assertEquals(getWarningCodes(raised), ["max_tokens_raised"]);
  const minimum = await send(16);
  assertEquals([minimum.body["max_output_tokens"], getWarningCodes(minimum)], [16, []]);
  assertEquals((await send(5, "chat")).body["max_completion_tokens"], 5);
});

Deno.test("createOpenAI(): omits an unsupported temperature with a warning", async () => {
  const options = { temperature: 0.5 };
  assertEquals((await sendPrompt(createModel("gpt-4o"), { options })).body["temperature"], 0.5);
  for (const api of ["chat", "responses"] as const) {
    const request = await sendPrompt(createModel("gpt-5"), { options, api });
    assertEquals([request.body["temperature"], getWarningCodes(request)], [
      undefined,
      ["temperature_left_out"],
    ]);
  }
});

Deno.test("createOpenAI(): maps the tool choice", async () => {
  const getChoices = async (api: "chat" | "responses") => {
    const found: unknown[] = [];
    for (const toolChoice of ["auto", "none", "required", { name: "list.all" }] as const) {
      found.push(
        (await sendPrompt(createModel("gpt-4o"), { api, options: { toolChoice } }))
          .body["tool_choice"],
      );
    }
    return found;
  };
  const name = "list_all_01wet6z2";
  assertEquals(await getChoices("chat"), [
    "auto",
    "none",
    "required",
    { type: "function", function: { name } },
  ]);
  assertEquals(await getChoices("responses"), [
    "auto",
    "none",
    "required",
    { type: "function", name },
  ]);
});

Deno.test("createOpenAI(): sends responseSchema, as strict if the schema is; no field without one [A133]", async () => {
  const closed = { type: "object", properties: {}, additionalProperties: false };
  const open = { type: "object", properties: { a: { type: "string" } } };
  const getFormat = async (
    responseSchema: typeof closed | typeof open,
    api: "chat" | "responses",
  ) => {
    const { body } = await sendPrompt(createModel("gpt-4o"), { api, options: { responseSchema } });
    return body[api === "chat" ? "response_format" : "text"];
  };
  assertEquals(await getFormat(closed, "chat"), {
    type: "json_schema",
    json_schema: { name: "response", schema: closed, strict: true },
  });
  assertEquals(await getFormat(open, "responses"), {
    format: { type: "json_schema", name: "response", schema: open, strict: false },
  });
  const unsupported = await sendPrompt(createModel("gpt-4-turbo"), {
    options: { responseSchema: closed },
  });
  assertEquals(getWarningCodes(unsupported), ["response_schema_left_out"]);
  const { body } = await sendPrompt(createModel("gpt-4o"));
  assertFalse("response_format" in body);
});

Deno.test("createOpenAI(): sends the session id as cache key, and long cache retention to models that support it", async () => {
  const options = { sessionId: "session-1", cache: "long" } as const;
  const { body } = await sendPrompt(createModel("gpt-5.4"), { options });
  assertEquals([body["prompt_cache_key"], body["prompt_cache_retention"]], ["session-1", "24h"]);
  for (const modelId of ["o3", "gpt-5.6-sol", "gpt-6.2-sol"]) {
    const other = await sendPrompt(createModel(modelId), { options });
    assertEquals([other.body["prompt_cache_retention"], getWarningCodes(other)], [
      undefined,
      ["cache_left_out"],
    ]);
  }
  assertFalse(
    "prompt_cache_key" in (await sendPrompt(createModel("x"), { options, ...LOCAL })).body,
  );
});

Deno.test("createOpenAI(): adds cache_control for Claude models at OpenRouter and Vercel, and requests the cost at OpenRouter", async () => {
  const request = richRequest({
    provider: "openrouter",
    modelId: "anthropic/claude-x",
    thinkingLevel: "high",
  });
  const { body } = await sendToOpenAI(request, { baseUrl: "https://openrouter.ai/api/v1" });
  assertEquals(body["reasoning"], { effort: "high" });
  assertEquals(body["usage"], { include: true });
  const cacheControls = JSON.stringify(body["messages"]).match(/"cache_control"/g);
  assertEquals(cacheControls?.length, 3);
  const vercel = await sendToOpenAI(request, { baseUrl: "https://ai-gateway.vercel.sh/v1" });
  assertEquals(vercel.body["reasoning"], { effort: "high" });
  assertFalse("usage" in vercel.body);
  const marks = JSON.stringify(vercel.body["messages"]).match(/"cache_control"/g);
  assertEquals(marks?.length, 3);
});

Deno.test("createOpenAI(): at OpenRouter, the prompt that the previous request marked for the cache stays marked", async () => {
  const model: ModelSpec = {
    provider: "openrouter",
    modelId: "anthropic/claude-x",
    thinkingLevel: "off",
  };
  const ids = Array.from({ length: 30 }, (_, index) => `call_${index}`);
  const batch = [
    createReply(
      model,
      ids.map((id) => ({ type: "tool_call", id, name: "read_file", arguments: {} })),
    ),
    ...ids.map((id) => createToolResult(id, "read_file", [{ type: "text", text: id }])),
  ];
  const messages = [prompt("Read."), ...batch, ...batch];
  const isMarked = (message: unknown) => JSON.stringify(message).includes("cache_control");
  const findMarks = async (length: number) => {
    const context = { systemPrompt: "s", messages: messages.slice(0, length), tools: [] };
    const request = { ...richRequest(model), context };
    const { body } = await sendToOpenAI(request, { baseUrl: "https://openrouter.ai/api/v1" });
    const sent = body["messages"];
    assert(Array.isArray(sent));
    return [...sent.keys()].filter((index) => isMarked(sent[index]));
  };
  assertEquals(await Promise.all([1, 32, 63].map(findMarks)), [[0, 1], [0, 1, 32], [0, 32, 63]]);
});

Deno.test("createOpenAI(): models of Moonshot get no type next to alternatives, and no references", async () => {
  const parameters = {
    type: "object",
    properties: {
      a: { type: "string", anyOf: [{ format: "date" }, { format: "time" }] },
      b: { $ref: "#/definitions/b" },
    },
    definitions: { b: { type: "number" } },
  };
  const tools = [{ name: "add", description: "Adds.", parameters }];
  const context = { systemPrompt: "", messages: [prompt("Hi")], tools };
  const send = async (baseUrl: string, modelId: string) => {
    const request = { ...richRequest(createModel(modelId)), context };
    const { body } = await sendToOpenAI(request, { baseUrl });
    const { tools: sent } = body as { tools: { function: { parameters: JsonObject } }[] };
    return sent[0]?.function.parameters;
  };
  const alternatives = ["date", "time"].map((format) => ({ type: "string", format }));
  const accepted = {
    type: "object",
    properties: { a: { anyOf: alternatives }, b: { type: "number" } },
  };
  assertEquals(await send("https://api.moonshot.ai/v1", "kimi-k3"), accepted);
  assertEquals(await send("https://openrouter.ai/api/v1", "moonshotai/kimi-k2.6"), accepted);
  assertEquals(await send("https://openrouter.ai/api/v1", "z-ai/glm-5"), parameters);
});

Deno.test("createOpenAI(): Moonshot gets no temperature and topP for models that accept only their own", async () => {
  const send = async (modelId: string, baseUrl = "https://api.moonshot.ai/v1") => {
    const options = { temperature: 0.5, topP: 0.5, stop: ["END"], apiKey: "sk-test" };
    const request = await sendToOpenAI({ ...richRequest(createModel(modelId)), options }, {
      baseUrl,
    });
    const { temperature, top_p, stop } = request.body;
    assertEquals(stop, ["END"]);
    const codes = getWarningCodes(request).filter((code) => code !== "unknown_model");
    return [temperature, top_p, ...codes];
  };
  const omitted = [undefined, undefined, "temperature_left_out", "top_p_left_out"];
  assertEquals(await send("kimi-k2.5"), omitted);
  assertEquals(await send("kimi-k3"), omitted);
  assertEquals(await send("kimi-for-coding", "https://api.kimi.com/coding/v1"), omitted);
  assertEquals(await send("kimi-k2-0905-preview"), [0.5, 0.5]);
  assertEquals(await send("moonshot-v1-8k"), [0.5, 0.5]);
  assertEquals(await send("kimi-k2.5", "https://api.together.xyz/v1"), [0.5, 0.5]);
});

Deno.test("createOpenAI(): replaces images with notes and a warning for a model without images", async () => {
  const request = await sendToOpenAI(richRequest(createModel("o3-mini")));
  assertEquals(getWarningCodes(request), ["images_left_out"]);
  assert(JSON.stringify(request.body).includes("an image that this model cannot see"));
  assertFalse(JSON.stringify(request.body).includes("base64"));
});

Deno.test("createOpenAI(): omits empty content [B65]", async () => {
  const request = richRequest(createModel("gpt-4o"));
  const messages = [prompt("", " "), createReply(createModel("gpt-4o"), []), prompt("Hi")];
  for (const api of ["chat", "responses"] as const) {
    const context = { systemPrompt: "", messages, tools: [] };
    const { body } = await sendToOpenAI({ ...request, context }, { api });
    assertEquals(body[api === "chat" ? "messages" : "input"], [{
      role: "user",
      content: api === "chat" ? "Hi" : [{ type: "input_text", text: "Hi" }],
    }]);
    assertFalse("tools" in body);
  }
});

Deno.test("createOpenAI(): sends tools in an order that does not depend on that of the request", async () => {
  const request = richRequest(createModel("gpt-4o"));
  const reversed = { ...request.context, tools: [...TOOLS].reverse() };
  assertEquals(
    (await sendToOpenAI({ ...request, context: reversed })).body,
    (await sendToOpenAI(request)).body,
  );
});

Deno.test("createOpenAI(): sends the key as a bearer token, or no token if keyless without a key [5.3]", async () => {
  const { headers } = await sendPrompt(createModel("gpt-4o"), {
    options: { apiKey: " sk-with-spaces\n" },
  });
  assertEquals(headers.get("authorization"), "Bearer sk-with-spaces");
  const keyless = await sendPrompt(createModel("x"), {
    ...LOCAL,
    keyless: true,
    options: { apiKey: "" },
  });
  assertEquals(keyless.headers.get("authorization"), null);
});

Deno.test("responses: reasoning without a following item is not sent back", async () => {
  const model = { provider: "openai", modelId: "gpt-5-mini", thinkingLevel: "low" } as const;
  const reasoning: ContentBlock = {
    type: "extension",
    typeName: "openai.reasoning",
    data: { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "ZW5j" },
  };
  const findTypes = async (...content: ContentBlock[]) => {
    const { body } = await captureRequest(
      (fetch) => createOpenAI({ fetch, api: "responses" }),
      {
        ...richRequest(model),
        context: {
          systemPrompt: "",
          tools: [],
          messages: [prompt("Hi"), createReply(model, content), prompt("And?")],
        },
      },
    );
    return (body["input"] as JsonObject[]).map(({ type, role }) => type ?? role);
  };
  const text: ContentBlock = { type: "text", text: "Hm." };
  assertEquals(await findTypes(reasoning, text), ["user", "reasoning", "message", "user"]);
  assertEquals(await findTypes(text, reasoning, reasoning), ["user", "message", "user"]);
  assertEquals(await findTypes(reasoning, { ...text, text: " " }), ["user", "user"]);
});

Deno.test("createOpenAI(): a reply that was cut off is continued with a prompt at compatible servers, which reject it at the end", async () => {
  const urls = {
    "http://localhost:8080/v1": "user",
    "https://openrouter.ai/api/v1": "user",
    "https://api.deepseek.com/v1": "user",
    "https://api.openai.com/v1": "assistant",
  };
  for (const [baseUrl, role] of Object.entries(urls)) {
    const model = createModel("some-model");
    const messages = [prompt("Hi"), createReply(model, [{ type: "text", text: "Hello, w" }])];
    const context = { systemPrompt: "Be brief.", messages, tools: [] };
    const { body } = await sendToOpenAI({ ...richRequest(model), context }, {
      baseUrl,
      api: "chat",
    });
    const sent = body["messages"] as { role: string; content: unknown }[];
    assertEquals(sent.at(-1)?.role, role, baseUrl);
    assertEquals(sent.at(role === "user" ? -2 : -1)?.content, "Hello, w", baseUrl);
  }
});

Deno.test("responses: a summary of the reasoning is requested in the given form, and none if it is off", async () => {
  const send = async (reasoningSummary?: StreamOptions["reasoningSummary"]) => {
    const { body } = await sendPrompt(createModel("gpt-5.4", "low"), {
      options: { reasoningSummary },
      api: "responses",
    });
    return body["reasoning"];
  };
  assertEquals(await send(), { effort: "low", summary: "auto" });
  for (const summary of ["auto", "concise", "detailed"] as const) {
    assertEquals(await send(summary), { effort: "low", summary });
  }
  assertEquals(await send("off"), { effort: "low" });
});
