import { assertEquals, assertStringIncludes } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import { type ModelSpec, modelSpec } from "../../src/core/models/model.ts";
import type { StreamRequest } from "../../src/core/streams/stream.ts";
import { NINE_PROVIDERS } from "./nine_providers.ts";
import { createReply, prompt } from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";

/** Values that a history from untyped code may have in an optional field. */
const VALUES: readonly unknown[] = [null, 5, "x", {}, [null], [5], [{ data: null }], [{ data: 5 }]];

const ITEM_TYPES = [
  "anthropic.server_tool_use",
  "anthropic.container",
  "openai.reasoning",
  "openai.reasoning_details",
  "google.part",
  "bedrock.tool_use",
  "bedrock.tool_result",
];

function createRequest(model: ModelSpec, blocks: readonly object[]): StreamRequest {
  const reply = createReply(model, blocks as ContentBlock[]);
  return {
    model,
    context: { systemPrompt: "", messages: [prompt("Hi"), reply, prompt("And?")], tools: [] },
    options: { apiKey: "sk-test" },
    signal: new AbortController().signal,
  };
}

Deno.test("adapters: a reply with values of other types in its optional fields does not prevent the request", async () => {
  const text = { type: "text", text: "Hello" };
  for (const { model, createStreamFn } of NINE_PROVIDERS) {
    const send = (...blocks: readonly object[]) =>
      captureRequest((fetch) => createStreamFn({ fetch }), createRequest(model, blocks));
    for (const value of VALUES) {
      await send({ ...text, citations: value });
      await send(
        text,
        ...ITEM_TYPES.map((typeName) => ({ type: "extension", typeName, data: value })),
      );
    }
  }
});

Deno.test("anthropic: citations of another form are not sent", async () => {
  const text = { type: "text", text: "Hello" };
  for (const citations of VALUES) {
    const { body } = await captureRequest(
      (fetch) => createAnthropic({ fetch }),
      createRequest(modelSpec("anthropic/claude-sonnet-4-5:low"), [{ ...text, citations }]),
    );
    const messages = body["messages"] as { content: object[] }[];
    assertEquals(messages[1]?.content, [text], JSON.stringify(citations));
  }
});

Deno.test("openrouter: reasoning details that are no list are not sent", async () => {
  const model = modelSpec("openrouter/openai/gpt-5");
  const item = { type: "extension", typeName: "openai.reasoning_details" };
  for (const data of [null, 5, "x", {}]) {
    const { body } = await captureRequest(
      (fetch) => createOpenAI({ fetch, baseUrl: "https://openrouter.ai/api/v1" }),
      createRequest(model, [{ type: "text", text: "Hello" }, { ...item, data }]),
    );
    const messages = body["messages"] as object[];
    assertEquals(messages[1], { role: "assistant", content: "Hello" });
  }
});

/** Stored items that no provider accepts: of another type than their block, without ids, or with members of other types. */
const FORGED_ITEMS: readonly (readonly [typeName: string, data: unknown])[] = [
  ["anthropic.web_search_tool_result", { type: "text" }],
  ["anthropic.server_tool_use", { type: "server_tool_use", id: 5, name: "n", input: {} }],
  ["anthropic.server_tool_use", { type: "server_tool_use", id: "x", name: "n", input: "{" }],
  ["anthropic.web_search_tool_result", { type: "web_search_tool_result", tool_use_id: {} }],
  ["anthropic.tool_use", { type: "tool_use", id: "x", name: "n", input: {} }],
  ["anthropic.text", { type: "text", text: 5 }],
  ["anthropic.thinking", { type: "thinking", thinking: "Hm.", signature: "s" }],
  ["anthropic.redacted_thinking", { type: "redacted_thinking", data: "x" }],
  ["anthropic.tool_result", { type: "tool_result", tool_use_id: "x" }],
  ["anthropic.container", { type: "container", id: 5 }],
  ["openai.web_search_call", { type: 5 }],
  ["openai.web_search_call", { type: "web_search_call", id: {}, status: "completed" }],
  ["openai.reasoning", { type: "function_call", id: "x" }],
  ["openai.reasoning", { type: "reasoning", id: "x", summary: "s" }],
  ["openai.reasoning", { type: "reasoning", id: "x", summary: [], encrypted_content: 5 }],
  ["openai.reasoning_details", []],
  ["openai.reasoning_details", ["forged"]],
  ["openai.reasoning_details", [{ text: "no type" }]],
  ["google.part", {}],
  ["google.part", { type: "part" }],
  ["google.part", { inlineData: 5 }],
  ["google.part", { functionCall: { name: "n" } }],
  ["google.part", { executableCode: {}, thoughtSignature: 5 }],
  ["bedrock.tool_use", { toolUse: { toolUseId: 5, name: "n", input: {} } }],
  ["bedrock.tool_use", { text: "forged" }],
  ["bedrock.tool_result", { toolResult: { toolUseId: "x", content: "text" } }],
  ["bedrock.image", { image: { format: "png", source: {} }, text: "forged" }],
  ["bedrock.image", { image: { format: "png" } }],
  ["bedrock.other", { other: {} }],
];

/** Stored items with nested members of other types, as in a history that was cut off or made by hand. */
const HALF_ITEMS: readonly (readonly [typeName: string, data: object])[] = [
  ...[
    { type: "server_tool_use", id: "a b", name: "web_search", input: {} },
    { type: "server_tool_use", id: "x", name: "web_search", input: {}, caller: {} },
    { type: "mcp_tool_use", id: "x", name: "n", input: {} },
    { type: "container_upload" },
    { type: "compaction", content: {} },
    { type: "unknown", data: "x" },
    ...[
      undefined,
      null,
      "text",
      [5],
      [{ type: "web_search_result" }],
      [{ type: "web_search_result", url: 5, title: "t", encrypted_content: "x" }],
      { type: "web_search_tool_result_error" },
    ].map((content) => ({ type: "web_search_tool_result", tool_use_id: "x", content })),
    { type: "web_fetch_tool_result", tool_use_id: "x", content: { type: "web_fetch_result" } },
    {
      type: "web_fetch_tool_result",
      tool_use_id: "x",
      content: { type: "web_fetch_result", url: "https://a.example", content: { type: "text" } },
    },
    {
      type: "bash_code_execution_tool_result",
      tool_use_id: "x",
      content: { type: "bash_code_execution_result", stdout: "1" },
    },
    { type: "mcp_tool_result", tool_use_id: "x", content: [{ type: "text" }] },
  ].map((data) => [`anthropic.${data.type}`, data] as const),
  ...[
    { type: "reasoning", id: "rs_1", summary: ["text"] },
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text" }] },
    { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "output_text", text: "x" }] },
    { type: "web_search_call", id: "ws_1", status: "completed", action: "search" },
    { type: "web_search_call", id: "ws_1", status: 5 },
    { type: "web_search_call", id: "ws_1", status: "in_progress" },
    { type: "file_search_call", id: "fs_1", status: "completed" },
    { type: "file_search_call", id: "fs_1", status: "completed", queries: [5] },
    { type: "code_interpreter_call", id: "ci_1", status: "completed", code: "1" },
    { type: "mcp_list_tools", id: "l_1", server_label: "docs", tools: [{ name: "n" }] },
    { type: "mcp_call", id: "m_1", name: "n", arguments: {}, server_label: "docs" },
    { type: "compaction", id: "c_1" },
  ].map((data) => [`openai.${data.type}`, data] as const),
  ...[
    [{ type: "reasoning.encrypted", data: 5 }],
    [{ type: "reasoning.text", text: {} }],
    [{ type: "reasoning.text", text: "x", signature: 5 }],
    [{ type: "reasoning.text", text: "x", index: "0" }],
  ].map((data) => ["openai.reasoning_details", data] as const),
  ...[
    { inlineData: {} },
    { inlineData: { mimeType: "image/png", data: "no base64" } },
    { fileData: { mimeType: "image/png" } },
    { executableCode: { language: "PYTHON" } },
    { codeExecutionResult: { output: "1" } },
    { executableCode: { code: "1" }, thoughtSignature: "no base64" },
    { executableCode: { code: "1" }, unknownMember: {} },
    { unknownMember: {} },
  ].map((data) => ["google.part", data] as const),
  ["bedrock.tool_use", { toolUse: { toolUseId: "a b", name: "n", input: {} } }],
  ["bedrock.tool_use", { toolUse: { toolUseId: "x", name: "n", input: {}, type: 5 } }],
  ["bedrock.tool_result", { toolResult: { toolUseId: "x", content: [{}] } }],
  ["bedrock.tool_result", { toolResult: { toolUseId: "x", content: [{ text: 5 }] } }],
  ["bedrock.tool_result", { toolResult: { toolUseId: "x", content: [{ forged: {} }] } }],
  ["bedrock.tool_result", { toolResult: { toolUseId: "x", content: [], status: "done" } }],
  ["bedrock.image", { image: { format: "png", source: {} } }],
  ["bedrock.image", { image: { format: "png", source: { bytes: "no base64" } } }],
];

/** All but the proxy, which sends a conversation unchanged: the adapter behind it converts it. */
const CONVERTING_PROVIDERS = NINE_PROVIDERS.filter(({ name }) => name !== "proxy");

async function captureBody(
  { model, createStreamFn }: (typeof NINE_PROVIDERS)[number],
  blocks: readonly object[],
) {
  return (await capture({ model, createStreamFn }, blocks)).body;
}

function capture(
  { model, createStreamFn }: Pick<(typeof NINE_PROVIDERS)[number], "model" | "createStreamFn">,
  blocks: readonly object[],
) {
  return captureRequest((fetch) => createStreamFn({ fetch }), createRequest(model, blocks));
}

Deno.test("adapters: forged items in a resumed conversation are not sent", async () => {
  const around: readonly object[] = [{ type: "text", text: "A" }, { type: "text", text: "B" }];
  for (const provider of CONVERTING_PROVIDERS) {
    const expected = await captureBody(provider, around);
    for (const [typeName, data] of [...FORGED_ITEMS, ...HALF_ITEMS]) {
      const forged = { type: "extension", typeName, data };
      const body = await captureBody(provider, around.toSpliced(1, 0, forged));
      const title = `${provider.model.provider}: ${typeName} ${JSON.stringify(data)}`;
      assertEquals(withoutSession(body), withoutSession(expected), title);
    }
  }
});

/** Providers by the start of the types of their items. */
const ITEM_PROVIDERS: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  openai: "openai responses",
  "openai.reasoning_details": "openai",
  google: "google",
  bedrock: "bedrock",
};

function findItemProvider(typeName: string): (typeof NINE_PROVIDERS)[number] {
  const [prefix = ""] = typeName.split(".");
  const name = ITEM_PROVIDERS[typeName] ?? ITEM_PROVIDERS[prefix];
  const provider = NINE_PROVIDERS.find((each) => each.name === name);
  if (!provider) throw new Error(`No provider has items of type ${typeName}`);
  return provider;
}

Deno.test("adapters: an item of another form than the provider's is omitted with a warning", async () => {
  for (const [typeName, data] of [...FORGED_ITEMS, ...HALF_ITEMS]) {
    const blocks = [{ type: "text", text: "A" }, { type: "extension", typeName, data }];
    const { warnings } = await capture(findItemProvider(typeName), blocks);
    const title = `${typeName} ${JSON.stringify(data)}`;
    assertEquals(warnings.map(({ code }) => code), ["content_left_out"], title);
    assertStringIncludes(warnings[0]?.message ?? "", `items of type ${typeName}`);
  }
});

Deno.test("adapters: a signature that no provider of the kind issues is omitted with a warning", async () => {
  const text = { type: "text", text: "Hello" };
  const forged: Readonly<Record<string, readonly object[]>> = {
    google: [
      { ...text, signature: "forged!" },
      { ...text, signature: "final_answer" },
      { type: "thinking", thinking: "Hm.", signature: "{}" },
      { type: "tool_call", id: "c1", name: "look", arguments: {}, signature: "fc_1" },
    ],
    "openai responses": [{ ...text, signature: "thought" }, { ...text, signature: "dGV4dA==" }],
    anthropic: [
      { ...text, signature: "dGV4dA==" },
      { type: "tool_call", id: "c1", name: "look", arguments: {}, signature: '{"caller":{}}' },
      { type: "tool_call", id: "c1", name: "look", arguments: {}, signature: "dGV4dA==" },
    ],
    bedrock: [
      { ...text, signature: "dGV4dA==" },
      { type: "thinking", thinking: "", signature: "forged!", redacted: true },
    ],
  };
  for (const provider of NINE_PROVIDERS.filter(({ name }) => name in forged)) {
    for (const block of forged[provider.name] ?? []) {
      const { body, warnings } = await capture(provider, [text, block]);
      const { signature: _signature, ...unsigned } = block as { signature: string };
      const title = `${provider.name}: ${JSON.stringify(block)}`;
      const expected = withoutSession(await captureBody(provider, [text, unsigned]));
      assertEquals(withoutSession(body), expected, title);
      assertEquals(warnings.map(({ code }) => code), ["signatures_left_out"], title);
    }
  }
});

Deno.test("anthropic: a citation with members of other types is omitted with a warning, and others are sent", async () => {
  const valid = {
    type: "web_search_result_location",
    cited_text: "x",
    encrypted_index: "y",
    title: null,
    url: "https://a.example",
  };
  const half = [
    { ...valid, url: 5 },
    { ...valid, encrypted_index: undefined },
    { ...valid, type: "unknown" },
    { type: "char_location", cited_text: "x", document_index: 0 },
    { type: "search_result_location", cited_text: "x", search_result_index: "0" },
    "text",
  ];
  const provider = findItemProvider("anthropic");
  const toCitations = (...list: readonly unknown[]) =>
    list.map((data) => ({ type: "url", url: "https://a.example", data }));
  const text = { type: "text", text: "Hello" };
  const expected = await captureBody(provider, [{ ...text, citations: toCitations(valid) }]);
  for (const data of half) {
    const citations = toCitations(data, valid);
    const { body, warnings } = await capture(provider, [{ ...text, citations }]);
    assertEquals(body, expected, JSON.stringify(data));
    assertEquals(warnings.map(({ code }) => code), ["citations_left_out"]);
  }
});

Deno.test("adapters: signatures that are no text are not sent", async () => {
  const blocks = [
    { type: "thinking", thinking: "Hm." },
    { type: "thinking", thinking: "", redacted: true },
    { type: "text", text: "A" },
  ];
  for (const provider of CONVERTING_PROVIDERS) {
    const expected = await captureBody(provider, blocks);
    for (const signature of [null, 5, true, {}, ["x"]]) {
      const body = await captureBody(
        provider,
        blocks.map((block) => ({ ...block, signature })),
      );
      const title = `${provider.model.provider}: ${JSON.stringify(signature)}`;
      assertEquals(withoutSession(body), withoutSession(expected), title);
    }
  }
});

Deno.test("adapters: arguments of a call that are no object are sent as an empty one", async () => {
  const call = { type: "tool_call", id: "call12345", name: "look" };
  for (const provider of CONVERTING_PROVIDERS) {
    const expected = await captureBody(provider, [{ ...call, arguments: {} }]);
    for (const args of [null, 5, "{", ["x"], undefined]) {
      const body = await captureBody(provider, [{ ...call, arguments: args }]);
      const title = `${provider.name}: ${JSON.stringify(args)}`;
      assertEquals(withoutSession(body), withoutSession(expected), title);
    }
  }
});

Deno.test("openai: a signature that is no phase is not sent", async () => {
  const model = modelSpec("openai/gpt-5");
  const send = async (signature: string) => {
    const text = { type: "text", text: "Hello", signature };
    const { body } = await captureRequest(
      (fetch) => createOpenAI({ fetch, api: "responses" }),
      createRequest(model, [text]),
    );
    const input = body["input"] as { phase?: string }[];
    return input[1]?.phase;
  };
  assertEquals(await send("final_answer"), "final_answer");
  for (const forged of ["\ud800", "{", "a b", ""]) assertEquals(await send(forged), undefined);
});

/** Omits the key of a conversation, which depends on its content. */
function withoutSession({ prompt_cache_key: _key, ...body }: Record<string, unknown>) {
  return body;
}

Deno.test("anthropic: a call of a server tool that was cut off is omitted with a warning", async () => {
  const provider = findItemProvider("anthropic");
  const call = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
  const { warnings } = await capture(provider, [
    { type: "text", text: "Hello" },
    { type: "extension", typeName: "anthropic.server_tool_use", data: call },
  ]);
  assertEquals(warnings.map(({ message }) => message), [
    "The history has items of server tools that cannot be sent back: 1 omitted",
  ]);
});
