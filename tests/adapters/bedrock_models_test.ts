import { assert, assertEquals, assertFalse } from "@std/assert";
import { createBedrock } from "../../adapters/bedrock/mod.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import type { ContentBlock } from "../../src/core/messages/content.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import type { StreamOptions, StreamRequest } from "../../src/core/streams/stream.ts";
import {
  createReply,
  createToolResult,
  PIXEL,
  prompt,
  richRequest,
  TOOLS,
} from "./rich_conversation.ts";
import { captureRequest, type SentRequest } from "./sent_request.ts";

const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const GPT = "us.openai.gpt-6-sol";
const PDF: ContentBlock = {
  type: "document",
  name: "a.pdf",
  mediaType: "application/pdf",
  source: { type: "base64", data: "JVBERi0=" },
};

function send(request: StreamRequest): Promise<SentRequest> {
  return captureRequest((fetch) => createBedrock({ fetch, region: "us-east-1" }), request);
}

Deno.test("createBedrock(): GPT models get nothing that they reject: sampling, stop texts, cache points, documents", async () => {
  for (const modelId of [GPT, "global.openai.gpt-9"]) {
    const model = modelSpec(`bedrock/${modelId}:low`);
    const options = { temperature: 0.1, topP: 0.5, stop: ["END"], toolChoice: "required" } as const;
    const request = richRequest(model, { options });
    const messages = [...request.context.messages, prompt("Read it."), {
      role: "user" as const,
      content: [PIXEL, PDF],
      timestamp: 0,
    }];
    const { body, warnings } = await send({
      ...request,
      context: { ...request.context, messages },
    });
    assertEquals(body["inferenceConfig"], undefined);
    assertEquals(Object(body["toolConfig"])["toolChoice"], { any: {} });
    const text = JSON.stringify(body);
    assertFalse(text.includes("cachePoint"));
    assertFalse(text.includes('"document"'));
    assert(text.includes('"image"'));
    const codes = warnings.map(({ code }) => code).filter((code) => code !== "unknown_model");
    assertEquals(codes.toSorted(), [
      "documents_left_out",
      "stop_left_out",
      "temperature_left_out",
      "top_p_left_out",
    ]);
  }
});

Deno.test("createBedrock(): replies of Claude may be longer than Bedrock's default of 4,096 tokens", async () => {
  const cases: readonly (readonly [model: string, maxTokens: number | undefined])[] = [
    // The limit of a model is exclusive: "Try again with a maximum tokens value that is lower than 64000".
    [CLAUDE, 63_999],
    ["us.anthropic.claude-haiku-4-5-20251001-v1:0:high", 63_999],
    ["us.anthropic.claude-opus-4-8:high", 64_000],
    ["anthropic.claude-3-haiku-20240307-v1:0", 4095],
    ["us.anthropic.claude-opus-9", 31_999],
    ["anthropic.claude-3-opus-20240229-v1:0", undefined],
    ["amazon.nova-pro-v1:0", undefined],
    [GPT, undefined],
  ];
  const readMaxTokens = async (modelId: string, options: StreamOptions) => {
    const { body } = await send(richRequest(modelSpec(`bedrock/${modelId}`), { options }));
    return Object(body["inferenceConfig"])["maxTokens"];
  };
  for (const [modelId, maxTokens] of cases) {
    assertEquals(await readMaxTokens(modelId, {}), maxTokens, modelId);
    assertEquals(await readMaxTokens(modelId, { maxTokens: 1000 }), 1000, modelId);
    const extra = { inferenceConfig: { maxTokens: 2000 } };
    assertEquals(await readMaxTokens(modelId, { extra }), 2000, modelId);
  }
  const longest = await readMaxTokens("us.anthropic.claude-opus-4-8", { maxTokens: 128_000 });
  assertEquals(longest, 127_999);
});

Deno.test("createBedrock(): Claude thinks within a limit among the extra fields", async () => {
  const model = modelSpec("bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0:high");
  const extra = { inferenceConfig: { maxTokens: 8000 } };
  const { body } = await send(richRequest(model, { options: { extra } }));
  assertEquals(body["inferenceConfig"], { maxTokens: 8000 });
  const { thinking } = Object(body["additionalModelRequestFields"]);
  assertEquals(thinking, { type: "enabled", budget_tokens: 6976 });
});

Deno.test("createBedrock(): the redacted thinking of a GPT model stands before its text and call", async () => {
  const model = modelSpec(`bedrock/${GPT}:low`);
  const reply = createReply(model, [
    { type: "thinking", thinking: "", signature: "QUJD", redacted: true },
    { type: "text", text: "I read it." },
    { type: "tool_call", id: "1", name: "read_file", arguments: { path: "a" } },
  ]);
  const { body } = await send({
    ...richRequest(model),
    context: {
      systemPrompt: "",
      tools: TOOLS,
      messages: [
        prompt("Hi"),
        reply,
        createToolResult("1", "read_file", [{ type: "text", text: "x" }, PIXEL]),
      ],
    },
  });
  const [, assistant, results] = body["messages"] as { content: JsonObject[] }[];
  assertEquals(assistant?.content.map((block) => Object.keys(block)[0]), [
    "reasoningContent",
    "text",
    "toolUse",
  ]);
  assertEquals(results?.content.map((block) => Object.keys(block)[0]), [
    "toolResult",
    "text",
    "image",
  ]);
});

Deno.test("createBedrock(): a document is in another message than the results before it, which Claude requires", async () => {
  const model = modelSpec(`bedrock/${CLAUDE}`);
  const findBlocks = async (isError: boolean, ...next: ContentBlock[]) => {
    const { body } = await send({
      ...richRequest(model, { options: { cache: "off" } }),
      context: {
        systemPrompt: "",
        tools: TOOLS,
        messages: [
          prompt("Hi"),
          createReply(model, [{ type: "tool_call", id: "1", name: "read_file", arguments: {} }]),
          { ...createToolResult("1", "read_file", [PDF]), isError },
          { role: "user", content: next, timestamp: 0 },
        ],
      },
    });
    const messages = body["messages"] as { content: JsonObject[] }[];
    return messages.slice(2).map(({ content }) => content.map((block) => Object.keys(block)[0]));
  };
  const text: ContentBlock = { type: "text", text: "Compare." };
  assertEquals(await findBlocks(false, text, PIXEL), [["toolResult", "text", "image"]]);
  assertEquals(await findBlocks(false, text, PDF), [["toolResult"], ["text"], [
    "text",
    "document",
  ]]);
  // That of a failed call follows its result.
  assertEquals(await findBlocks(true, text), [["toolResult"], ["text"], [
    "text",
    "document",
    "text",
  ]]);
});
