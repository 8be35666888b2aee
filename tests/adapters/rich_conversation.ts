/**
 * A conversation with every kind of content, for tests of requests.
 *
 * @module
 */

import type { ContentBlock } from "../../src/core/messages/content.ts";
import type {
  AssistantMessage,
  LlmMessage,
  ToolResultMessage,
} from "../../src/core/messages/message.ts";
import type { ModelSpec } from "../../src/core/models/model.ts";
import { zeroCost, zeroUsage } from "../../src/core/models/usage.ts";
import type { StreamOptions, StreamRequest, ToolSpec } from "../../src/core/streams/stream.ts";

/** An image block of one pixel. */
export const PIXEL: ContentBlock = {
  type: "image",
  source: { type: "base64", mediaType: "image/png", data: "iVBORw0KGgo=" },
};

/** Tools in unsorted order, one with a name that providers reject. */
export const TOOLS: readonly ToolSpec[] = [
  {
    name: "read_file",
    description: "Reads a file.",
    parameters: {
      type: "object",
      properties: { path: { type: "string" } },
      required: ["path"],
    },
  },
  { name: "list.all", description: "Lists all files.", parameters: { type: "object" } },
  {
    name: "add_numbers",
    description: "Adds numbers.",
    parameters: {
      type: "object",
      properties: { numbers: { type: "array", items: { type: "number" } } },
      required: ["numbers"],
      additionalProperties: false,
    },
  },
];

/** Creates an assistant message. */
export function createReply(
  { provider, modelId }: Pick<ModelSpec, "provider" | "modelId">,
  content: readonly ContentBlock[],
): AssistantMessage {
  return {
    role: "assistant",
    content,
    provider,
    modelId,
    usage: zeroUsage(),
    cost: zeroCost(),
    stopReason: content.some(({ type }) => type === "tool_call") ? "tool_use" : "stop",
    timestamp: 0,
  };
}

/** Creates the result of a tool call. */
export function createToolResult(
  toolCallId: string,
  toolName: string,
  content: readonly ContentBlock[],
  isError = false,
): ToolResultMessage {
  return { role: "tool_result", toolCallId, toolName, content, isError, timestamp: 0 };
}

/** Creates a user message. */
export function prompt(...content: readonly (string | ContentBlock)[]): LlmMessage {
  const blocks = content.map((block): ContentBlock =>
    typeof block === "string" ? { type: "text", text: block } : block
  );
  return { role: "user", content: blocks, timestamp: 0 };
}

/** Blocks with opaque data as the adapters create them, by provider. */
const ITEMS: Readonly<Record<string, readonly ContentBlock[]>> = {
  anthropic: [
    { type: "thinking", thinking: "", signature: "ZW5jcnlwdGVk", redacted: true },
  ],
  bedrock: [
    { type: "thinking", thinking: "", signature: "ZW5jcnlwdGVk", redacted: true },
    {
      type: "extension",
      typeName: "bedrock.tool_use",
      data: { toolUse: { toolUseId: "own_1", name: "interpreter", input: {} } },
    },
    {
      type: "extension",
      typeName: "bedrock.tool_result",
      data: { toolResult: { toolUseId: "own_1", content: [{ text: "42" }] } },
    },
  ],
  openai: [
    {
      type: "extension",
      typeName: "openai.reasoning",
      data: { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "ZW5j" },
    },
  ],
};

/** Signatures of text, by the providers that issue any. */
const TEXT_SIGNATURES: Readonly<Record<string, { readonly signature: string }>> = {
  openai: { signature: "commentary" },
  azure: { signature: "commentary" },
  xai: { signature: "commentary" },
  google: { signature: "dGV4dCBzaWduYXR1cmU=" },
};

/** Creates a conversation with replies of a model and a new prompt at the end. */
export function createConversation(model: Pick<ModelSpec, "provider" | "modelId">): LlmMessage[] {
  return [
    prompt("What is in this picture, and in my files?", PIXEL),
    createReply(model, [
      { type: "thinking", thinking: "I need the files.", signature: "c2lnbmF0dXJl" },
      ...ITEMS[model.provider] ?? [],
      { type: "text", text: "Let me look.", ...TEXT_SIGNATURES[model.provider] },
      { type: "tool_call", id: "call_1", name: "list.all", arguments: {} },
      {
        type: "tool_call",
        id: "call|2+with/odd=characters|and-far-more-of-them-than-sixty-four-characters",
        name: "read_file",
        arguments: { path: "a\ud800.txt" },
      },
    ]),
    createToolResult("call_1", "list.all", [{ type: "text", text: "a.txt" }, PIXEL]),
    createToolResult(
      "call|2+with/odd=characters|and-far-more-of-them-than-sixty-four-characters",
      "read_file",
      [{ type: "text", text: "No such file" }],
      true,
    ),
    prompt("Never mind the file.", "  "),
    createReply(model, [
      { type: "thinking", thinking: "Done, then.", signature: "c2lnbmF0dXJlMg==" },
      { type: "text", text: "As you like." },
    ]),
    prompt("", "Now add 1 and 2."),
  ];
}

/** Creates a request with the conversation of {@linkcode createConversation}. */
export function richRequest(
  model: ModelSpec,
  { from = model, options = {} }: {
    readonly from?: Pick<ModelSpec, "provider" | "modelId">;
    readonly options?: StreamOptions;
  } = {},
): StreamRequest {
  return {
    model,
    context: { systemPrompt: "Be brief.", messages: createConversation(from), tools: TOOLS },
    options: { apiKey: "sk-test", ...options },
    signal: new AbortController().signal,
  };
}
