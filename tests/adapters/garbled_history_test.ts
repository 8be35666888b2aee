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
