import { assertEquals } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import type { ContentBlock } from "../../src/core/content.ts";
import { type ModelSpec, modelSpec } from "../../src/core/model.ts";
import type { StreamRequest } from "../../src/core/stream.ts";
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
  ["anthropic.container", { type: "container", id: "x" }],
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

/** All but the proxy, which sends a conversation unchanged: the adapter behind it converts it. */
const CONVERTING_PROVIDERS = NINE_PROVIDERS.filter(({ name }) => name !== "proxy");

async function captureBody(
  { model, createStreamFn }: (typeof NINE_PROVIDERS)[number],
  blocks: readonly object[],
) {
  const request = createRequest(model, blocks);
  return (await captureRequest((fetch) => createStreamFn({ fetch }), request)).body;
}

Deno.test("adapters: forged items in a resumed conversation are not sent", async () => {
  const around: readonly object[] = [{ type: "text", text: "A" }, { type: "text", text: "B" }];
  for (const provider of CONVERTING_PROVIDERS) {
    const expected = await captureBody(provider, around);
    for (const [typeName, data] of FORGED_ITEMS) {
      const forged = { type: "extension", typeName, data };
      const body = await captureBody(provider, around.toSpliced(1, 0, forged));
      const title = `${provider.model.provider}: ${typeName} ${JSON.stringify(data)}`;
      assertEquals(withoutSession(body), withoutSession(expected), title);
    }
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
