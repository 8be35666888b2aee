/**
 * The conversation as Gemini takes it.
 *
 * @module
 */

import type { ContentBlock, ImageBlock, TextBlock } from "../../src/core/content.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
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

/** How a conversation is written. */
export interface ContentsOptions {
  /** The model that is asked. */
  readonly model: ModelSpec;
  /**
   * Whether the model is of the third generation or later: it insists on the signatures of the calls that are being
   * answered, and sees images within results.
   */
  readonly requiresSignatures: boolean;
}

/** Google's own stand-in for the signature of a call that another model made. */
const SIGNATURE_PLACEHOLDER = "skip_thought_signature_validator";

/** Writes the conversation: it begins and ends with the user, and the results of a batch come together. */
export function toWireContents(
  messages: readonly LlmMessage[],
  options: ContentsOptions,
): WireContent[] {
  const contents: WireContent[] = [];
  const lastPrompt = messages.findLastIndex(({ role }) => role === "user");
  let batch: ToolResultMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool_result") {
      batch.push(message);
      continue;
    }
    contents.push(...toResultContents(batch, options));
    batch = [];
    if (message.role === "user") {
      contents.push(...createContent("user", toWireParts(message.content)));
    } else {contents.push(
        ...toReplyContents(message, { ...options, isCurrentTurn: index > lastPrompt }),
      );}
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

function toWireParts(blocks: readonly ContentBlock[]): WirePart[] {
  return getTextAndImages(blocks).map(toTextOrImage);
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

/** The media type that an address tells; Google wants one. */
function guessMediaType(url: string): string {
  const extension = /\.(png|webp|gif|heic|heif)(?:[?#]|$)/i.exec(url)?.[1];
  return `image/${extension?.toLowerCase() ?? "jpeg"}`;
}

/** All results of one batch; where results carry no images, these follow in a message of their own. */
function toResultContents(
  batch: readonly ToolResultMessage[],
  { requiresSignatures: isSigned }: ContentsOptions,
): WireContent[] {
  const images = isSigned ? [] : batch.flatMap((message) => {
    const parts = toImageParts(message);
    return parts.length > 0 ? [{ text: `Images from ${message.toolName}:` }, ...parts] : [];
  });
  return [
    ...createContent("user", batch.map((message) => toResultPart(message, isSigned))),
    ...createContent("user", images),
  ];
}

function toResultPart(message: ToolResultMessage, takesImages: boolean): WirePart {
  // The field tells whether it is an error.
  const text = toResultText({ ...message, isError: false });
  const parts = takesImages ? toImageParts(message) : [];
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
  /** Whether the message belongs to the answer that is being given. */
  readonly isCurrentTurn: boolean;
}

function toReplyContents(
  message: AssistantMessage,
  { model, requiresSignatures: isSigned, isCurrentTurn: answersNow }: ReplyOptions,
): WireContent[] {
  const isOwn = isOwnReply(message, model);
  const parts = message.content.flatMap((block) => toReplyParts(block, isOwn));
  const firstCall = parts.findIndex(({ functionCall }) => functionCall !== undefined);
  const call = parts[firstCall];
  if (isSigned && answersNow && call && call.thoughtSignature === undefined) {
    parts[firstCall] = { ...call, thoughtSignature: SIGNATURE_PLACEHOLDER };
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
      return isOwn && block.typeName === GOOGLE_PART ? parseStoredParts(block.data) : [];
    case "image":
      return [];
  }
}

function parseStoredParts(data: unknown): JsonObject[] {
  return isJsonObject(data) ? [data] : [];
}
