import { assert, assertEquals, assertFalse } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import type { ModelSpec, ThinkingLevel } from "../../src/core/models/model.ts";
import type { StreamOptions, StreamRequest } from "../../src/core/streams/stream.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { createReply, createToolResult, prompt, richRequest, TOOLS } from "./rich_conversation.ts";
import { assertGolden, captureRequest, type SentRequest } from "./sent_request.ts";

const BUDGET_MODEL = "claude-sonnet-4-5";
const ADAPTIVE_MODEL = "claude-opus-4-8";
const ALWAYS_THINKING_MODEL = "claude-opus-5-5";

function createModel(modelId: string, thinkingLevel: ThinkingLevel = "off"): ModelSpec {
  return { provider: "anthropic", modelId, thinkingLevel };
}

function sendToAnthropic(request: StreamRequest): Promise<SentRequest> {
  return captureRequest((fetch) => createAnthropic({ fetch }), request);
}

function sendPrompt(spec: ModelSpec, options: StreamOptions = {}): Promise<SentRequest> {
  const request = richRequest(spec, { options });
  return sendToAnthropic({ ...request, context: { ...request.context, messages: [prompt("Hi")] } });
}

function getWarningCodes({ warnings }: SentRequest): string[] {
  return warnings.map(({ code }) => code);
}

function getMember(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}

Deno.test("createAnthropic(): sends the golden request", async () => {
  const { url, headers, body, warnings } = await sendToAnthropic(
    richRequest(createModel(BUDGET_MODEL, "medium")),
  );
  assertEquals(url, "https://api.anthropic.com/v1/messages");
  assertEquals(headers.get("x-api-key"), "sk-test");
  assertEquals(headers.get("anthropic-version"), "2023-06-01");
  assertEquals(headers.get("anthropic-beta"), "interleaved-thinking-2025-05-14");
  assertEquals(warnings, []);
  assertGolden(body, "anthropic/request.json");
});

Deno.test("createAnthropic(): omits thinking, signatures and items of another provider [B73]", async () => {
  const from = { provider: "openai", modelId: "gpt-5" };
  const { body } = await sendToAnthropic(richRequest(createModel(ADAPTIVE_MODEL), { from }));
  assertGolden(body, "anthropic/request_from_openai.json");
});

Deno.test("createAnthropic(): omits thinking of another model of the same provider", async () => {
  const from = { provider: "anthropic", modelId: BUDGET_MODEL };
  const { body } = await sendToAnthropic(richRequest(createModel(ADAPTIVE_MODEL), { from }));
  assertFalse(JSON.stringify(body).includes("c2lnbmF0dXJl"));
});

Deno.test("createAnthropic(): maps each thinking level to a budget below max_tokens or to an effort", async () => {
  const budgets: unknown[] = [];
  const efforts: unknown[] = [];
  for (const level of ["minimal", "low", "medium", "high", "extra_high"] as const) {
    budgets.push(
      getMember(
        (await sendPrompt(createModel(BUDGET_MODEL, level))).body["thinking"],
        "budget_tokens",
      ),
    );
    efforts.push(
      getMember(
        (await sendPrompt(createModel(ADAPTIVE_MODEL, level))).body["output_config"],
        "effort",
      ),
    );
  }
  assertEquals(budgets, [1024, 4096, 10_240, 20_480, 49_152]);
  assertEquals(efforts, ["low", "low", "medium", "high", "xhigh"]);
});

Deno.test("createAnthropic(): uses the caller's thinking budget within the model's limits", async () => {
  const spec = { ...createModel(BUDGET_MODEL, "low"), thinkingBudgets: { low: 2000 } };
  assertEquals((await sendPrompt(spec)).body["thinking"], { type: "enabled", budget_tokens: 2000 });
  const { body } = await sendPrompt(spec, { maxTokens: 2500 });
  assertEquals([body["max_tokens"], body["thinking"]], [2500, {
    type: "enabled",
    budget_tokens: 1476,
  }]);
});

Deno.test("createAnthropic(): warns when max_tokens leaves no thinking budget", async () => {
  const request = await sendPrompt(createModel(BUDGET_MODEL, "low"), { maxTokens: 1500 });
  assertEquals(request.body["thinking"], undefined);
  assertEquals(getWarningCodes(request), ["thinking_left_out"]);
});

Deno.test("createAnthropic(): turns thinking off with the setting that the model supports", async () => {
  assertEquals((await sendPrompt(createModel(ADAPTIVE_MODEL))).body["thinking"], undefined);
  assertEquals((await sendPrompt(createModel("claude-sonnet-5"))).body["thinking"], {
    type: "disabled",
  });
  assertEquals((await sendPrompt(createModel("claude-sonnet-5-5"))).body["thinking"], {
    type: "between_tools",
  });
  const always = await sendPrompt(createModel(ALWAYS_THINKING_MODEL));
  assertEquals(getMember(always.body["thinking"], "type"), "adaptive");
  assertEquals(always.body["output_config"], { effort: "low" });
});

Deno.test("createAnthropic(): requests drop_block for a model with context-bound thinking", async () => {
  const { body, headers } = await sendPrompt(createModel(ALWAYS_THINKING_MODEL, "high"));
  assertEquals(body["thinking"], {
    type: "adaptive",
    display: "summarized",
    block_binding: { prefix_mismatch_behavior: "drop_block" },
  });
  assertEquals(headers.get("anthropic-beta"), "thinking-binding-controls-2026-08-01");
});

Deno.test("createAnthropic(): turns thinking off between another model's calls and their results", async () => {
  const request = richRequest(createModel(BUDGET_MODEL, "high"));
  const messages = [
    prompt("Hi"),
    createReply({ provider: "openai", modelId: "gpt-5" }, [
      { type: "tool_call", id: "c", name: "read_file", arguments: {} },
    ]),
    createToolResult("c", "read_file", [{ type: "text", text: "text" }]),
  ];
  const found = await sendToAnthropic({ ...request, context: { ...request.context, messages } });
  assertEquals(found.body["thinking"], undefined);
  assertEquals(getWarningCodes(found), ["thinking_left_out"]);
});

Deno.test("createAnthropic(): maps the tool choice and omits conflicting options with a warning", async () => {
  const choice = async (spec: ModelSpec, toolChoice: StreamOptions["toolChoice"]) => {
    const request = await sendPrompt(spec, toolChoice === undefined ? {} : { toolChoice });
    return [request.body["tool_choice"], getWarningCodes(request)];
  };
  assertEquals(await choice(createModel(BUDGET_MODEL), undefined), [undefined, []]);
  assertEquals(await choice(createModel(BUDGET_MODEL), "auto"), [{ type: "auto" }, []]);
  assertEquals(await choice(createModel(BUDGET_MODEL), "none"), [{ type: "none" }, []]);
  assertEquals(await choice(createModel(BUDGET_MODEL), "required"), [{ type: "any" }, []]);
  assertEquals(await choice(createModel(BUDGET_MODEL), { name: "read_file" }), [
    { type: "tool", name: "read_file" },
    [],
  ]);
  assertEquals(await choice(createModel(BUDGET_MODEL, "high"), "required"), [
    { type: "any" },
    ["thinking_left_out"],
  ]);
  assertEquals(await choice(createModel(ALWAYS_THINKING_MODEL), "required"), [undefined, [
    "tool_choice_left_out",
  ]]);
});

Deno.test("createAnthropic(): omits the temperature with a warning when the model does not support it", async () => {
  assertEquals(
    (await sendPrompt(createModel(BUDGET_MODEL), { temperature: 0.5 })).body["temperature"],
    0.5,
  );
  for (const spec of [createModel(BUDGET_MODEL, "low"), createModel(ADAPTIVE_MODEL)]) {
    const request = await sendPrompt(spec, { temperature: 0.5 });
    assertEquals([request.body["temperature"], getWarningCodes(request)], [
      undefined,
      ["temperature_left_out"],
    ]);
  }
});

Deno.test("createAnthropic(): omits the response schema with a warning when the model does not support it", async () => {
  const responseSchema = { type: "object", properties: {}, additionalProperties: false };
  const strict = await sendPrompt(createModel(BUDGET_MODEL), { responseSchema });
  assertEquals(strict.body["output_config"], {
    format: { type: "json_schema", schema: responseSchema },
  });
  const loose = await sendPrompt(createModel("claude-3-haiku"), { responseSchema });
  assertEquals(getWarningCodes(loose), ["response_schema_left_out"]);
});

Deno.test("createAnthropic(): lowers max_tokens to the model's limit", async () => {
  assertEquals((await sendPrompt(createModel(BUDGET_MODEL))).body["max_tokens"], 64_000);
  assertEquals(
    (await sendPrompt(createModel(BUDGET_MODEL), { maxTokens: 100 })).body["max_tokens"],
    100,
  );
  const more = await sendPrompt(createModel(BUDGET_MODEL), { maxTokens: 1_000_000 });
  assertEquals([more.body["max_tokens"], getWarningCodes(more)], [64_000, ["max_tokens_lowered"]]);
});

Deno.test("createAnthropic(): marks the prompt for the requested cache duration", async () => {
  const marks = async (cache: StreamOptions["cache"]) => {
    const { body } = await sendToAnthropic(
      richRequest(createModel(BUDGET_MODEL), { options: cache ? { cache } : {} }),
    );
    return [...JSON.stringify(body).matchAll(/"cache_control":(\{.*?\})/g)].map(([, mark]) => mark);
  };
  assertEquals(await marks("off"), []);
  assertEquals(await marks(undefined), Array(4).fill('{"type":"ephemeral"}'));
  assertEquals(await marks("long"), Array(4).fill('{"type":"ephemeral","ttl":"1h"}'));
});

Deno.test("createAnthropic(): keeps the prefix of a longer conversation unchanged", async () => {
  const request = richRequest(createModel(BUDGET_MODEL));
  const before = request.context.messages.slice(0, 5);
  const shorter = await sendToAnthropic({
    ...request,
    context: { ...request.context, messages: before },
  });
  const longer = await sendToAnthropic({
    ...request,
    context: { ...request.context, tools: [...TOOLS].reverse() },
  });
  const clean = (body: JsonObject) =>
    JSON.stringify({ tools: body["tools"], system: body["system"], messages: body["messages"] })
      .replaceAll(/,"cache_control":\{[^}]*\}/g, "");
  assert(clean(longer.body).startsWith(clean(shorter.body).slice(0, -2)));
});

Deno.test("createAnthropic(): adds extra fields, which do not replace typed options", async () => {
  const request = await sendPrompt(createModel(BUDGET_MODEL), {
    extra: { top_k: 5, stream: false },
  });
  assertEquals([request.body["top_k"], request.body["stream"]], [5, true]);
  assertEquals(getWarningCodes(request), ["extra_left_out"]);
});

Deno.test("createAnthropic(): warns once about a model that is not in the catalog", async () => {
  const streamFn = createAnthropic({
    fetch: () => Promise.resolve(new Response("", { status: 500 })),
  });
  const request = richRequest(createModel("claude-next"));
  const first = await readReply(streamFn(request));
  const second = await readReply(streamFn(request));
  assertEquals(first.warnings.map(({ code }) => code), ["unknown_model"]);
  assertEquals(second.warnings, []);
});

Deno.test("createAnthropic(): omits empty content [B65]", async () => {
  const request = richRequest(createModel(ADAPTIVE_MODEL));
  const messages = [
    prompt("", " \n"),
    createReply({ provider: "anthropic", modelId: ADAPTIVE_MODEL }, []),
    createReply({ provider: "anthropic", modelId: ADAPTIVE_MODEL }, [
      { type: "thinking", thinking: "cut off", signature: "s" },
    ]),
  ];
  const { body } = await sendToAnthropic({
    ...request,
    context: { systemPrompt: " ", messages, tools: [] },
  });
  assertEquals(body["system"], undefined);
  assertEquals(body["tools"], undefined);
  assertEquals(JSON.stringify(body["messages"]).includes('"user"'), true);
});

Deno.test("createAnthropic(): continues a final reply with prefill, or with a prompt where it is not supported", async () => {
  const request = richRequest(createModel(BUDGET_MODEL), { options: { cache: "off" } });
  const messages = [
    prompt("Count."),
    createReply({ provider: "anthropic", modelId: BUDGET_MODEL }, [{
      type: "text",
      text: "1, 2, ",
    }]),
  ];
  const context = { ...request.context, messages };
  const prefilled = await sendToAnthropic({ ...request, context });
  assertEquals(prefilled.body["messages"], [
    { role: "user", content: [{ type: "text", text: "Count." }] },
    { role: "assistant", content: [{ type: "text", text: "1, 2," }] },
  ]);
  const model = createModel(ADAPTIVE_MODEL);
  const prompted = await sendToAnthropic({ ...request, model, context });
  assertEquals(getMember((prompted.body["messages"] as unknown[]).at(-1), "content"), [
    { type: "text", text: "Continue." },
  ]);
});

Deno.test("createAnthropic(): fails with a hint when an image file was not read", async () => {
  const request = richRequest(createModel(BUDGET_MODEL));
  const messages = [prompt({ type: "image", source: { type: "file", path: "/a.png" } })];
  const streamFn = createAnthropic();
  const { error } = await readReply(
    streamFn({ ...request, context: { ...request.context, messages } }),
  );
  assertEquals(error?.code, "bad_request");
  assert(error?.message.includes("readFile"));
});

Deno.test("createAnthropic(): continues a reply at the end of the conversation, except while thinking", async () => {
  const getLast = async (modelId: string, level: ThinkingLevel) => {
    const model = createModel(modelId, level);
    const messages = [prompt("Hi"), createReply(model, [{ type: "text", text: "The answer is " }])];
    const { body } = await sendToAnthropic({
      ...richRequest(model),
      context: { systemPrompt: "", tools: [], messages },
    });
    const last = (body["messages"] as JsonObject[]).at(-1);
    return [last?.["role"], getMember((last?.["content"] as unknown[])[0], "text")];
  };
  assertEquals(await getLast(BUDGET_MODEL, "off"), ["assistant", "The answer is"]);
  assertEquals(await getLast(BUDGET_MODEL, "low"), ["user", "Continue."]);
  assertEquals(await getLast(ADAPTIVE_MODEL, "off"), ["user", "Continue."]);
});

Deno.test("createAnthropic(): enables thinking between calls only for a model with a budget, while it thinks and has tools", async () => {
  const getBetas = async (modelId: string, level: ThinkingLevel, hasTools: boolean) => {
    const request = richRequest(createModel(modelId, level));
    const context = { ...request.context, messages: [prompt("Hi")] };
    const tools = hasTools ? TOOLS : [];
    const { headers } = await sendToAnthropic({ ...request, context: { ...context, tools } });
    return headers.get("anthropic-beta");
  };
  const beta = "interleaved-thinking-2025-05-14";
  assertEquals(await getBetas(BUDGET_MODEL, "low", true), beta);
  assertEquals(await getBetas(BUDGET_MODEL, "low", false), null);
  assertEquals(await getBetas(BUDGET_MODEL, "off", true), null);
  assertEquals(await getBetas(ADAPTIVE_MODEL, "low", true), null);
});

Deno.test("createAnthropic(): cache marks of the caller leave fewer of its own, since the API accepts four", async () => {
  const mark = { type: "ephemeral" };
  const countMarks = async (options: StreamOptions) => {
    const { body } = await sendToAnthropic(richRequest(createModel(BUDGET_MODEL), { options }));
    const count = (value: unknown) =>
      JSON.stringify(value ?? "").split('"cache_control":').length - 1;
    return [count(body), count(body["system"]), count(body["tools"]), count(body["messages"])];
  };
  assertEquals(await countMarks({}), [4, 1, 1, 2]);
  const tool = (name: string) => ({ type: "custom", name, input_schema: {}, cache_control: mark });
  assertEquals(await countMarks({ extra: { cache_control: mark } }), [4, 1, 1, 1]);
  assertEquals(await countMarks({ extra: { tools: [tool("a")] } }), [4, 1, 2, 1]);
  const definition = { ...tool("b"), type: "web_search_20250305" };
  const serverTools = [{ type: "provider_tool", provider: "anthropic", definition }] as const;
  assertEquals(await countMarks({ serverTools, extra: { cache_control: mark } }), [4, 1, 1, 1]);
  const tools = [tool("a"), tool("b"), tool("c")];
  assertEquals(await countMarks({ extra: { tools } }), [4, 0, 3, 1]);
  assertEquals(await countMarks({ extra: { tools: [...tools, tool("d")] } }), [4, 0, 4, 0]);
  assertEquals(await countMarks({ cache: "off", extra: { cache_control: mark } }), [1, 0, 0, 0]);
});

Deno.test("createAnthropic(): omits all thinking at the end of a reply that was cut off", async () => {
  const model = createModel(ADAPTIVE_MODEL);
  const think = (thinking: string): ContentBlock => ({
    type: "thinking",
    thinking,
    signature: "c2lnbmF0dXJl",
  });
  const request = richRequest(model);
  const messages = [
    prompt("Hi"),
    createReply(model, [think("First."), { type: "text", text: "Well" }, think("A"), think("B")]),
    prompt("And?"),
  ];
  const { body } = await sendToAnthropic({
    ...request,
    context: { ...request.context, messages },
  });
  const [, reply] = body["messages"] as readonly { readonly content: readonly JsonObject[] }[];
  assertEquals(reply?.content.map(({ type }) => type), ["thinking", "text"]);
});

Deno.test("createAnthropic(): a reply after one that was cut off continues it or follows the prompt that asked for it", async () => {
  const getTurns = async (modelId: string) => {
    const model = createModel(modelId);
    const request = richRequest(model);
    const replies = ["One, ", "two."].map((text) => createReply(model, [{ type: "text", text }]));
    const messages = [prompt("Count."), ...replies, prompt("And?")];
    const { body } = await sendToAnthropic({
      ...request,
      context: { ...request.context, messages },
    });
    const turns = body["messages"] as readonly { readonly content: readonly JsonObject[] }[];
    return turns.map(({ content }) => content.map(({ text }) => text));
  };
  assertEquals(await getTurns(BUDGET_MODEL), [["Count."], ["One, ", "two."], ["And?"]]);
  assertEquals(await getTurns(ADAPTIVE_MODEL), [
    ["Count."],
    ["One, "],
    ["Continue."],
    ["two."],
    ["And?"],
  ]);
});

Deno.test("createAnthropic(): in a browser, permits direct access to Anthropic, and sends no such header elsewhere", async () => {
  const request = richRequest(createModel(BUDGET_MODEL));
  const readHeader = async (baseUrl?: string) => {
    const create = (fetch: typeof globalThis.fetch) => createAnthropic({ fetch, baseUrl });
    const { headers } = await captureRequest(create, request);
    return headers.get("anthropic-dangerous-direct-browser-access");
  };
  assertEquals(await readHeader(), null);
  const location = Object.getOwnPropertyDescriptor(globalThis, "location");
  Object.defineProperty(globalThis, "location", {
    value: new URL("https://app.example/"),
    configurable: true,
  });
  try {
    assertEquals(await readHeader(), "true");
    assertEquals(await readHeader("https://gateway.example"), null);
  } finally {
    Reflect.deleteProperty(globalThis, "location");
    if (location) Object.defineProperty(globalThis, "location", location);
  }
});
