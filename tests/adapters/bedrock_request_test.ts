import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { type BedrockOptions, createBedrock } from "../../adapters/bedrock/mod.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import type { ModelSpec, ThinkingLevel } from "../../src/core/models/model.ts";
import { webSearch } from "../../src/core/streams/server_tool.ts";
import type { StreamOptions, StreamRequest } from "../../src/core/streams/stream.ts";
import {
  createReply,
  createToolResult,
  PIXEL,
  prompt,
  richRequest,
  TOOLS,
} from "./rich_conversation.ts";
import { assertGolden, captureRequest, type SentRequest } from "./sent_request.ts";

const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA = "eu.amazon.nova-2-lite-v1:0";
const GPT = "us.openai.gpt-6-sol";
const LLAMA = "meta.llama3-3-70b-instruct-v1:0";

function createModel(modelId: string, thinkingLevel: ThinkingLevel = "off"): ModelSpec {
  return { provider: "bedrock", modelId, thinkingLevel };
}

function sendToBedrock(request: StreamRequest, options: BedrockOptions = {}): Promise<SentRequest> {
  return captureRequest(
    (fetch) => createBedrock({ fetch, region: "us-east-1", ...options }),
    request,
  );
}

function sendPrompt(spec: ModelSpec, options: StreamOptions = {}): Promise<SentRequest> {
  const request = richRequest(spec, { options });
  return sendToBedrock({ ...request, context: { ...request.context, messages: [prompt("Hi")] } });
}

function getWarningCodes({ warnings }: SentRequest): string[] {
  return warnings.map(({ code }) => code);
}

function getMember(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (parent, name) => isJsonObject(parent) ? parent[name] : undefined,
    value,
  );
}

Deno.test("createBedrock(): sends the golden request", async () => {
  const { url, headers, body, warnings } = await sendToBedrock(
    richRequest(createModel(CLAUDE, "medium")),
  );
  assertEquals(
    url,
    "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream",
  );
  assertEquals(headers.get("authorization"), "Bearer sk-test");
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(warnings, []);
  assertGolden(body, "bedrock/request.json");
});

Deno.test("createBedrock(): omits thinking, signatures and items of another provider [B73]", async () => {
  const from = { provider: "openai", modelId: "gpt-5" };
  const { body } = await sendToBedrock(richRequest(createModel(LLAMA), { from }));
  assertGolden(body, "bedrock/request_from_openai.json");
});

Deno.test("createBedrock(): marks a failed tool result by status, or by text where the family has none", async () => {
  const result = (body: unknown) => JSON.stringify(body).match(/"toolResult":.{0,400}No such file/);
  const claude = result((await sendToBedrock(richRequest(createModel(CLAUDE)))).body)?.[0] ?? "";
  const llama = result((await sendToBedrock(richRequest(createModel(LLAMA)))).body)?.[0] ?? "";
  assertFalse(claude.includes("Error: No such file"));
  assert(llama.includes("Error: No such file"));
});

Deno.test("createBedrock(): sends the thinking fields of each model family", async () => {
  const fields = async (modelId: string, level: ThinkingLevel) =>
    getMember((await sendPrompt(createModel(modelId, level))).body, "additionalModelRequestFields");
  assertEquals(await fields(CLAUDE, "low"), {
    thinking: { type: "enabled", budget_tokens: 4096 },
    anthropic_beta: ["interleaved-thinking-2025-05-14"],
  });
  assertEquals(await fields("anthropic.claude-opus-4-6-v1", "high"), {
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: "high" },
  });
  assertEquals(await fields(NOVA, "minimal"), {
    reasoningConfig: { type: "enabled", maxReasoningEffort: "low" },
  });
  assertEquals(await fields("openai.gpt-oss-120b-1:0", "extra_high"), {
    reasoning_effort: "high",
  });
  assertEquals(await fields(GPT, "extra_high"), { reasoning: { effort: "xhigh" } });
  assertEquals(await fields(GPT, "off"), { reasoning: { effort: "none" } });
  assertEquals(await fields("global.openai.gpt-6-astra", "off"), { reasoning: { effort: "low" } });
  assertEquals(await fields("us.openai.gpt-9", "high"), { reasoning: { effort: "high" } });
  assertEquals(await fields(CLAUDE, "off"), undefined);
  const llama = await sendPrompt(createModel(LLAMA, "high"));
  assertEquals(getWarningCodes(llama), ["thinking_left_out"]);
});

Deno.test("createBedrock(): thinks between a call and its result only if the reply starts with thinking", async () => {
  const model = createModel(CLAUDE, "medium");
  const call: ContentBlock = { type: "tool_call", id: "1", name: "read_file", arguments: {} };
  const thinking: ContentBlock = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
  const send = async (...content: ContentBlock[]) => {
    const messages = [
      prompt("Hi"),
      createReply(model, content),
      createToolResult("1", "read_file", [{ type: "text", text: "x" }]),
    ];
    const { body, warnings } = await sendToBedrock({
      ...richRequest(model),
      context: { systemPrompt: "", tools: TOOLS, messages },
    });
    const isThinking = getMember(body, "additionalModelRequestFields", "thinking") !== undefined;
    return [isThinking, warnings.map(({ code }) => code)];
  };
  assertEquals(await send(thinking, call), [true, []]);
  assertEquals(await send(call), [false, ["thinking_left_out"]]);
});

Deno.test("createBedrock(): sets cache points where the model family supports them", async () => {
  const points = async (modelId: string, options: StreamOptions = {}) => {
    const { body } = await sendToBedrock(richRequest(createModel(modelId), { options }));
    const has = (part: unknown) => JSON.stringify(part ?? "").includes("cachePoint");
    return [body["system"], body["toolConfig"], body["messages"]].map(has);
  };
  assertEquals(await points(CLAUDE), [true, true, true]);
  assertEquals(await points(NOVA), [true, false, true]);
  assertEquals(await points(LLAMA), [false, false, false]);
  assertEquals(await points(CLAUDE, { cache: "off" }), [false, false, false]);
});

Deno.test("createBedrock(): requests the long cache where the model family supports it", async () => {
  const long = { cache: "long" } as const;
  const claude = await sendPrompt(createModel(CLAUDE), long);
  assert(JSON.stringify(claude.body).includes('"ttl":"1h"'));
  assertEquals(claude.warnings, []);
  assertEquals(getWarningCodes(await sendPrompt(createModel(NOVA), long)), ["cache_shortened"]);
  assertEquals(getWarningCodes(await sendPrompt(createModel(LLAMA), long)), []);
});

Deno.test("createBedrock(): converts the options, and warns about those the model does not support", async () => {
  const schema = { type: "object", properties: {}, additionalProperties: false };
  const full = await sendPrompt(createModel(CLAUDE), {
    temperature: 0.3,
    maxTokens: 500,
    toolChoice: "required",
    responseSchema: schema,
    extra: { requestMetadata: { team: "a" }, inferenceConfig: { topP: 0.9, maxTokens: 1 } },
  });
  assertEquals(getMember(full.body, "inferenceConfig"), {
    topP: 0.9,
    maxTokens: 500,
    temperature: 0.3,
  });
  assertEquals(getMember(full.body, "requestMetadata"), { team: "a" });
  assertEquals(getMember(full.body, "toolConfig", "toolChoice"), { any: {} });
  const jsonSchema = { name: "reply", schema: JSON.stringify(schema) };
  assertEquals(getMember(full.body, "outputConfig", "textFormat", "structure"), { jsonSchema });
  assertEquals(getWarningCodes(full), ["extra_left_out"]);

  const named = await sendPrompt(createModel(CLAUDE), { toolChoice: { name: "list.all" } });
  const tool = getMember(named.body, "toolConfig", "toolChoice", "tool", "name");
  assertMatch(String(tool), /^list_all_[a-z0-9]{8}$/);

  const thinking = await sendPrompt(createModel(CLAUDE, "low"), {
    temperature: 0.3,
    maxTokens: 1_000_000,
  });
  assertEquals(getWarningCodes(thinking), ["max_tokens_lowered", "temperature_left_out"]);
  assertEquals(getWarningCodes(await sendPrompt(createModel(LLAMA), { responseSchema: schema })), [
    "response_schema_left_out",
  ]);
});

Deno.test('createBedrock(): omits the tools for toolChoice "none" unless the conversation has calls', async () => {
  const withoutCalls = await sendPrompt(createModel(CLAUDE), { toolChoice: "none" });
  assertEquals(withoutCalls.body["toolConfig"], undefined);
  assertEquals(withoutCalls.warnings, []);
  const withCalls = await sendToBedrock(
    richRequest(createModel(CLAUDE), { options: { toolChoice: "none" } }),
  );
  assertEquals(getWarningCodes(withCalls), ["tool_choice_left_out"]);
  assertEquals(getMember(withCalls.body, "toolConfig", "toolChoice"), undefined);
});

Deno.test("createBedrock(): declares the tools of earlier calls when the request has no tools", async () => {
  const request = richRequest(createModel(LLAMA));
  const { body } = await sendToBedrock({ ...request, context: { ...request.context, tools: [] } });
  const tools = getMember(body, "toolConfig", "tools");
  const names = Array.isArray(tools) && tools.map((tool) => getMember(tool, "toolSpec", "name"));
  assertEquals(names, ["list_all_01wet6z2", "read_file"]);
});

Deno.test("createBedrock(): sends images as bytes or from S3, and replaces others with a warning", async () => {
  const image = (url: string) => ({ type: "image", source: { type: "url", url } }) as const;
  const bitmap = {
    type: "image",
    source: { type: "base64", mediaType: "image/bmp", data: "AA==" },
  } as const;
  const message = prompt(
    image("s3://bucket/a.png"),
    image("data:image/webp;base64,AAAA"),
    image("https://example.com/a.png"),
    bitmap,
  );
  const request = richRequest(createModel(CLAUDE));
  const context = { ...request.context, messages: [message] };
  const { body, warnings } = await sendToBedrock({ ...request, context });
  assertEquals(getMember(getMember(body, "messages"), "0"), undefined);
  assertEquals(JSON.parse(JSON.stringify(body["messages"]))[0].content.slice(0, 4), [
    { image: { format: "png", source: { s3Location: { uri: "s3://bucket/a.png" } } } },
    { image: { format: "webp", source: { bytes: "AAAA" } } },
    { text: "(an image that this model cannot see)" },
    { text: "(an image that this model cannot see)" },
  ]);
  assertEquals(warnings.map(({ code }) => code), ["images_left_out", "images_left_out"]);
});

Deno.test("createBedrock(): sends valid messages for an irregular conversation [B65]", async () => {
  const request = richRequest(createModel(LLAMA));
  const call = { type: "tool_call", id: "c1", name: "read_file", arguments: {} } as const;
  const messages = [
    createReply(createModel(LLAMA), [{ type: "text", text: "Hello?" }]),
    prompt("  "),
    prompt("One."),
    prompt("Two."),
    createReply(createModel(LLAMA), [call]),
    createToolResult("c1", "read_file", []),
    createReply(createModel(LLAMA), [{ type: "text", text: "Done. " }]),
  ];
  const { body } = await sendToBedrock({
    ...request,
    context: { systemPrompt: "", tools: TOOLS, messages },
  });
  assertEquals(body["system"], undefined);
  assertEquals(body["messages"], [
    { role: "user", content: [{ text: "(The conversation goes on.)" }] },
    { role: "assistant", content: [{ text: "Hello?" }] },
    { role: "user", content: [{ text: "One." }, { text: "Two." }] },
    {
      role: "assistant",
      content: [{ toolUse: { toolUseId: "c1", name: "read_file", input: {} } }],
    },
    {
      role: "user",
      content: [{ toolResult: { toolUseId: "c1", content: [{ text: "(no output)" }] } }],
    },
    { role: "assistant", content: [{ text: "Done. " }] },
    { role: "user", content: [{ text: "Continue." }] },
  ]);
});

Deno.test("createBedrock(): omits calls of system tools without a result, and results without a call", async () => {
  const model = createModel(NOVA);
  const createItem = (kind: string, value: object): ContentBlock => ({
    type: "extension",
    typeName: `bedrock.${kind}`,
    data: value,
  });
  const call = (toolUseId: string) =>
    createItem("tool_use", {
      toolUse: { toolUseId, name: "nova_grounding", type: "server_tool_use", input: {} },
    });
  const result = (toolUseId: string) =>
    createItem("tool_result", { toolResult: { toolUseId, content: [{ text: "42" }] } });
  const { body, warnings } = await sendToBedrock({
    ...richRequest(model, { options: { serverTools: [webSearch()] } }),
    context: {
      systemPrompt: "",
      tools: [],
      messages: [
        prompt("Search."),
        createReply(model, [call("1"), result("1"), result("2"), { type: "text", text: "x" }]),
        prompt("Again."),
        createReply(model, [{ type: "text", text: "y" }, call("3")]),
        prompt("And?"),
      ],
    },
  });
  const messages = body["messages"] as { content: object[] }[];
  assertEquals(messages.map(({ content }) => content.flatMap((block) => Object.keys(block))), [
    ["text"],
    ["toolUse", "toolResult", "text"],
    ["text", "cachePoint"],
    ["text"],
    ["text", "cachePoint"],
  ]);
  assertEquals(warnings.map(({ message }) => message), [
    "The history has items of server tools that cannot be sent back: 2 omitted",
  ]);
});

/** Creates a document in a format, such as `csv`. */
function createDocument(mediaType: string): ContentBlock {
  return { type: "document", mediaType, source: { type: "base64", data: "YSxi" } };
}

for (
  const [content, expected] of [
    [["Sum.", createDocument("text/csv")], ["text", "cachePoint", "document"]],
    [[createDocument("text/csv"), "Sum."], ["document", "text", "cachePoint"]],
    [[createDocument("text/csv")], ["document", "text", "cachePoint"]],
    [["Sum.", createDocument("text/csv"), PIXEL], ["text", "document", "image", "cachePoint"]],
    [
      ["Sum.", createDocument("text/csv"), createDocument("text/html")],
      ["text", "cachePoint", "document", "document"],
    ],
    [["Sum.", createDocument("application/pdf")], ["text", "document", "cachePoint"]],
    [
      ["Sum.", createDocument("text/csv"), createDocument("application/pdf")],
      ["text", "document", "document", "cachePoint"],
    ],
  ] as const
) {
  Deno.test(`createBedrock(): no cache point follows a document that the API converts, as in ${expected}`, async () => {
    const request = richRequest(createModel(CLAUDE));
    const context = { ...request.context, messages: [prompt(...content)] };
    const { body } = await sendToBedrock({ ...request, context });
    const [message] = body["messages"] as { content: object[] }[];
    assertEquals(message?.content.flatMap((block) => Object.keys(block)), [...expected]);
  });
}

Deno.test("createBedrock(): a request without tools has no items of system tools, which the API rejects there", async () => {
  const model = createModel(NOVA);
  const items = [
    { toolUse: { toolUseId: "1", name: "nova_grounding", type: "server_tool_use", input: {} } },
    { toolResult: { toolUseId: "1", content: [{ text: "42" }] } },
  ];
  const reply = createReply(model, [
    { type: "extension", typeName: "bedrock.tool_use", data: items[0] },
    { type: "extension", typeName: "bedrock.tool_result", data: items[1] },
    { type: "text", text: "It is 42." },
  ]);
  const messages = [prompt("Search."), reply, prompt("And?")];
  const sendReply = async (options: StreamOptions, tools = TOOLS.slice(0, 0)) => {
    const context = { systemPrompt: "", tools, messages };
    const { body } = await sendToBedrock({ ...richRequest(model, { options }), context });
    return (body["messages"] as { content: object[] }[])[1]?.content;
  };
  const text = { text: "It is 42." };
  assertEquals(await sendReply({}), [text]);
  const kept = [...items, text];
  assertEquals(await sendReply({ serverTools: [webSearch()] }), kept);
  assertEquals(await sendReply({}, TOOLS.slice(0, 1)), kept);
  const toolConfig = { tools: [{ systemTool: { name: "nova_grounding" } }] };
  assertEquals(await sendReply({ extra: { toolConfig } }), kept);
});

Deno.test("createBedrock(): Nova with the highest effort gets no length, temperature and top_p, which it rejects", async () => {
  const options = { maxTokens: 500, temperature: 0.5, topP: 0.5, stop: ["END"] };
  const send = (level: ThinkingLevel) =>
    sendToBedrock(richRequest(createModel(NOVA, level), { options }));
  const low = await send("low");
  assertEquals(low.body["inferenceConfig"], {
    maxTokens: 500,
    temperature: 0.5,
    topP: 0.5,
    stopSequences: ["END"],
  });
  const high = await send("high");
  assertEquals(high.body["inferenceConfig"], { stopSequences: ["END"] });
  const codes = ["max_tokens_left_out", "temperature_left_out", "top_p_left_out"];
  assertEquals(
    high.warnings.map(({ code }) => code).filter((code) => codes.includes(code)),
    codes,
  );
  assertEquals(low.warnings.filter(({ code }) => codes.includes(code)), []);
});

Deno.test("createBedrock(): images of a failed call follow its result", async () => {
  const model = createModel(CLAUDE);
  const call = { type: "tool_call", id: "c1", name: "read_file", arguments: {} } as const;
  const result = { ...createToolResult("c1", "read_file", [PIXEL]), isError: true } as const;
  const messages = [prompt("Look."), createReply(model, [call]), result];
  const { body } = await sendToBedrock({
    ...richRequest(model),
    context: { systemPrompt: "", tools: TOOLS, messages },
  });
  const sent = body["messages"] as { content: Record<string, unknown>[] }[];
  const blocks = sent[2]?.content ?? [];
  assertEquals(getMember(blocks[0], "toolResult", "status"), "error");
  assertFalse(JSON.stringify(blocks[0]).includes('"image"'));
  assert(blocks.some(({ image }) => image !== undefined));
});

Deno.test("createBedrock(): an audio clip in a result follows the results, with the other media", async () => {
  const model = createModel("amazon.nova-2-omni-v1:0");
  const audio: ContentBlock = {
    type: "audio",
    mediaType: "audio/mpeg",
    source: { type: "base64", data: "AAAA" },
  };
  const send = async (...media: readonly ContentBlock[]) => {
    const messages = [
      prompt("Hi"),
      createReply(model, [{ type: "tool_call", id: "c1", name: "read_file", arguments: {} }]),
      createToolResult("c1", "read_file", [{ type: "text", text: "Read." }, ...media]),
    ];
    const request = richRequest(model);
    const { body } = await sendToBedrock({ ...request, context: { ...request.context, messages } });
    const [, , answer] = body["messages"] as readonly { readonly content: readonly JsonObject[] }[];
    const kinds = (blocks: unknown) =>
      Array.isArray(blocks) ? blocks.map((block) => Object.keys(block)[0]) : [];
    const result = getMember(answer?.content[0], "toolResult", "content");
    return [kinds(result), kinds(answer?.content.slice(1))];
  };
  const [inResult, following] = await send(audio, PIXEL);
  assertEquals(inResult, ["text"]);
  assertEquals(following?.slice(0, 3), ["text", "audio", "image"]);
});

Deno.test("createBedrock(): Nova gets schemas with nothing but properties at their root, and without definitions", async () => {
  const createTool = (parameters: JsonObject) => ({
    name: "add",
    description: "Adds.",
    parameters,
  });
  const tool = createTool({
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Sum",
    description: "Two numbers.",
    type: "object",
    properties: { a: { $ref: "#/$defs/number" }, b: { $ref: "#/$defs/number" } },
    required: ["a"],
    additionalProperties: false,
    $defs: { number: { type: "number", minimum: 0 } },
  });
  const request = richRequest(createModel(NOVA));
  const send = (modelId: string, tool: ReturnType<typeof createTool>) =>
    sendToBedrock({
      ...request,
      model: createModel(modelId),
      context: { systemPrompt: "", messages: [prompt("Hi")], tools: [tool] },
    });
  const number = { type: "number", minimum: 0 };
  assertEquals(getMember((await send(NOVA, tool)).body, "toolConfig", "tools"), [{
    toolSpec: {
      name: "add",
      description: "Adds.\n\nTwo numbers.",
      inputSchema: {
        json: { type: "object", properties: { a: number, b: number }, required: ["a"] },
      },
    },
  }]);
  const plain = await send(NOVA, createTool({ type: "object" }));
  assertEquals(getMember(plain.body, "toolConfig", "tools"), [{
    toolSpec: {
      name: "add",
      description: "Adds.",
      inputSchema: { json: { type: "object", properties: {} } },
    },
  }]);
  const { body } = await send(LLAMA, tool);
  assertEquals(getMember(body, "toolConfig", "tools"), [{
    toolSpec: {
      name: "add",
      description: "Adds.",
      inputSchema: { json: tool.parameters },
    },
  }]);
});
