/**
 * Converts a conversation to Google's contents.
 *
 * @module
 */

import type { ContentBlock, ImageBlock, TextBlock } from "../../src/core/content.ts";
import { isJsonObject } from "../../src/core/json.ts";
import type { AssistantMessage, LlmMessage, ToolResultMessage } from "../../src/core/message.ts";
import type { ModelSpec } from "../../src/core/model.ts";
import {
  createUnreadFileError,
  getTextAndImages,
  hasText,
  isOwnReply,
  toResultText,
} from "../kit/request/history.ts";
import { CALL_ID_RULE, toWireName } from "../kit/request/wire_names.ts";
import { GOOGLE_NAME_RULE } from "./names.ts";
import { GOOGLE_PART } from "./response.ts";
import type { WireContent, WirePart } from "./wire.ts";

/** Options for `toWireContents()`. */
export interface ContentsOptions {
  /** The requested model. */
  readonly model: ModelSpec;
  /**
   * Whether the model is Gemini 3 or later, which requires the signatures of the calls of the current turn and
   * accepts images in tool results.
   */
  readonly requiresSignatures: boolean;
}

/** Google's placeholder for the signature of a call that another model made. */
const SIGNATURE_PLACEHOLDER = "skip_thought_signature_validator";

/** Converts a conversation: it starts and ends with the user, and the results of a batch share one message. */
export function toWireContents(
  messages: readonly LlmMessage[],
  options: ContentsOptions,
): WireContent[] {
  const contents: WireContent[] = [];
  const lastPromptIndex = messages.findLastIndex(({ role }) => role === "user");
  let batch: ToolResultMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool_result") {
      batch.push(message);
      continue;
    }
    contents.push(...toResultContents(batch, options));
    batch = [];
    if (message.role === "user") {
      const parts = getTextAndImages(message.content).map(toTextOrImage);
      contents.push(...createContent("user", parts));
    } else {
      const isCurrentTurn = index > lastPromptIndex;
      contents.push(...toReplyContents(message, { ...options, isCurrentTurn }));
    }
  }
  contents.push(...toResultContents(batch, options));
  if (contents[0]?.role !== "user") {
    contents.unshift(createUserContent("(The conversation goes on.)"));
  }
  return contents.at(-1)?.role === "model"
    ? [...contents, createUserContent("Continue.")]
    : contents;
}

function createContent(role: WireContent["role"], parts: readonly WirePart[]): WireContent[] {
  return parts.length > 0 ? [{ role, parts }] : [];
}

function createUserContent(text: string): WireContent {
  return { role: "user", parts: [{ text }] };
}

function toTextOrImage(block: TextBlock | ImageBlock): WirePart {
  return block.type === "text" ? { text: block.text } : toImagePart(block);
}

function toImagePart({ source }: ImageBlock): WirePart {
  switch (source.type) {
    case "base64":
      return { inlineData: { mimeType: source.mediaType, data: source.data } };
    case "url": {
      const [, mimeType, data] = /^data:([^;,]+)[^,]*;base64,(.*)$/s.exec(source.url) ?? [];
      if (mimeType !== undefined) return { inlineData: { mimeType, data } };
      return { fileData: { mimeType: guessMediaType(source.url), fileUri: source.url } };
    }
    case "file":
      throw createUnreadFileError(source.path);
  }
}

/** Guesses the media type, which Google requires, from a URL's extension. Default: `image/jpeg`. */
function guessMediaType(url: string): string {
  const extension = /\.(png|webp|gif|heic|heif)(?:[?#]|$)/i.exec(url)?.[1];
  return `image/${extension?.toLowerCase() ?? "jpeg"}`;
}

/** Converts the results of one batch; for older models, their images follow in a separate message. */
function toResultContents(
  batch: readonly ToolResultMessage[],
  { requiresSignatures: supportsImages }: ContentsOptions,
): WireContent[] {
  const images = supportsImages ? [] : batch.flatMap((message) => {
    const parts = toImageParts(message);
    return parts.length > 0 ? [{ text: `Images from ${message.toolName}:` }, ...parts] : [];
  });
  return [
    ...createContent("user", batch.map((message) => toResultPart(message, supportsImages))),
    ...createContent("user", images),
  ];
}

function toResultPart(message: ToolResultMessage, supportsImages: boolean): WirePart {
  // Without an "Error:" prefix: the name of the response's field marks an error.
  const text = toResultText({ ...message, isError: false });
  const parts = supportsImages ? toImageParts(message) : [];
  return {
    functionResponse: {
      id: toWireName(message.toolCallId, CALL_ID_RULE),
      name: toWireName(message.toolName, GOOGLE_NAME_RULE),
      response: message.isError ? { error: text } : { output: text },
      ...(parts.length > 0 && { parts }),
    },
  };
}

function toImageParts(message: ToolResultMessage): WirePart[] {
  return message.content.flatMap((block) => block.type === "image" ? [toImagePart(block)] : []);
}

interface ReplyOptions extends ContentsOptions {
  /** Whether the reply follows the last prompt. */
  readonly isCurrentTurn: boolean;
}

function toReplyContents(
  message: AssistantMessage,
  { model, requiresSignatures, isCurrentTurn }: ReplyOptions,
): WireContent[] {
  const isOwn = isOwnReply(message, model);
  const parts = message.content.flatMap((block) => toReplyParts(block, isOwn));
  const firstCallIndex = parts.findIndex(({ functionCall }) => functionCall !== undefined);
  const firstCall = parts[firstCallIndex];
  const isUnsigned = firstCall !== undefined && firstCall.thoughtSignature === undefined;
  if (requiresSignatures && isCurrentTurn && isUnsigned) {
    parts[firstCallIndex] = { ...firstCall, thoughtSignature: SIGNATURE_PLACEHOLDER };
  }
  return createContent("model", parts);
}

function toReplyParts(block: ContentBlock, isOwn: boolean): WirePart[] {
  const signature = "signature" in block ? block.signature : undefined;
  const signed = isOwn && signature ? { thoughtSignature: signature } : undefined;
  switch (block.type) {
    case "text":
      return hasText(block) || signed ? [{ text: block.text, ...signed }] : [];
    case "thinking":
      return signed ? [{ text: block.thinking, thought: true, ...signed }] : [];
    case "tool_call": {
      const { id, name, arguments: args } = block;
      const functionCall = {
        id: toWireName(id, CALL_ID_RULE),
        name: toWireName(name, GOOGLE_NAME_RULE),
        args,
      };
      return [{ functionCall, ...signed }];
    }
    case "extension":
      return isOwn && block.typeName === GOOGLE_PART && isJsonObject(block.data)
        ? [block.data]
        : [];
    case "image":
    case "document":
    case "audio":
      return [];
  }
}
