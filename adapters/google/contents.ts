/**
 * Converts a conversation to Google's contents.
 *
 * @module
 */

import type { ContentBlock, TextBlock } from "../../src/core/messages/content.ts";
import type {
  AssistantMessage,
  LlmMessage,
  ToolResultMessage,
} from "../../src/core/messages/message.ts";
import type { ModelSpec } from "../../src/core/models/model.ts";
import {
  CONTINUE,
  createMediaTitle,
  getTextAndMedia,
  hasText,
  isMedia,
  isOwnReply,
  MISSING_PROMPT,
  toResultText,
} from "../kit/request/history.ts";
import { createUnreadFileError, getMediaType, type MediaBlock } from "../kit/request/media.ts";
import { CALL_ID_RULE, toWireName } from "../kit/request/wire_names.ts";
import { GOOGLE_NAME_RULE } from "./names.ts";
import { isReplayedPart } from "./replay_rules.ts";
import { GOOGLE_PART, type WireContent, type WirePart } from "./wire.ts";

/** Options for `toWireContents()`. */
export interface ContentsOptions {
  /** The requested model. */
  readonly model: ModelSpec;
  /** Whether the model is Gemini 3 or later, which requires signatures of calls and accepts images in tool results. */
  readonly requiresSignatures: boolean;
  /** Whether calls and results have ids; Vertex AI rejects them. */
  readonly hasCallIds: boolean;
}

/** Matches the media types that a function response may contain. */
const RESULT_TYPES = /^(?:image\/(?:png|jpeg|webp)|application\/pdf|text\/plain)$/;

/** Google's placeholder for the signature of a call that another model made. */
const SIGNATURE_PLACEHOLDER = "skip_thought_signature_validator";

/**
 * Converts a conversation: it starts and ends with the user, replies do not follow each other, and the results of a batch
 * share one message.
 */
export function toWireContents(
  messages: readonly LlmMessage[],
  options: ContentsOptions,
): WireContent[] {
  const contents: WireContent[] = [];
  let batch: ToolResultMessage[] = [];
  for (const message of messages) {
    if (message.role === "tool_result") {
      batch.push(message);
      continue;
    }
    contents.push(...toResultContents(batch, options));
    batch = [];
    if (message.role === "user") {
      const parts = getTextAndMedia(message.content).map(toPart);
      contents.push(...createContent("user", parts));
    } else {
      contents.push(...toReplyContents(message, options));
    }
  }
  contents.push(...toResultContents(batch, options));
  return completeContents(separateReplies(contents));
}

/**
 * Separates replies that follow each other by the prompt that ended the request for the second one. The API rejects a
 * call that does not follow a user content.
 */
function separateReplies(contents: readonly WireContent[]): WireContent[] {
  return contents.flatMap((content, index) => {
    const continuesReply = content.role === "model" && contents[index - 1]?.role === "model";
    return continuesReply ? [createUserContent(CONTINUE), content] : [content];
  });
}

/** Adds the user contents with which a conversation starts and ends. */
function completeContents(contents: readonly WireContent[]): WireContent[] {
  const start = contents[0]?.role === "user" ? [] : [createUserContent(MISSING_PROMPT)];
  const end = contents.at(-1)?.role === "model" ? [createUserContent(CONTINUE)] : [];
  return [...start, ...contents, ...end];
}

function createContent(role: WireContent["role"], parts: readonly WirePart[]): WireContent[] {
  return parts.length > 0 ? [{ role, parts }] : [];
}

function createUserContent(text: string): WireContent {
  return { role: "user", parts: [{ text }] };
}

function toPart(block: TextBlock | MediaBlock): WirePart {
  return block.type === "text" ? { text: block.text } : toMediaPart(block);
}

function toMediaPart(block: MediaBlock): WirePart {
  const { source } = block;
  const mimeType = getMediaType(block);
  switch (source.type) {
    case "base64":
      return { inlineData: { mimeType, data: source.data } };
    case "url": {
      const fileUri = source.url;
      return { fileData: { mimeType: mimeType ?? guessMediaType(fileUri), fileUri } };
    }
    case "provider_file":
      return { fileData: { ...(mimeType && { mimeType }), fileUri: source.id } };
    case "file":
      throw createUnreadFileError(block, source.path);
  }
}

/** Guesses the media type, which Google requires, from a URL's extension. Default: `image/jpeg`. */
function guessMediaType(url: string): string {
  const extension = /\.(png|webp|gif|heic|heif)(?:[?#]|$)/i.exec(url)?.[1];
  return `image/${extension?.toLowerCase() ?? "jpeg"}`;
}

/** Converts the results of one batch; media that they must not contain follow in a separate message. */
function toResultContents(
  batch: readonly ToolResultMessage[],
  options: ContentsOptions,
): WireContent[] {
  const results: WirePart[] = [];
  const attachments: WirePart[] = [];
  for (const message of batch) {
    const media = message.content.filter(isMedia);
    const isInResult = (block: MediaBlock) => options.requiresSignatures && canBeInResult(block);
    const separate = media.filter((block) => !isInResult(block));
    results.push(toResultPart(message, media.filter(isInResult), options));
    if (separate.length === 0) continue;
    attachments.push(toPart(createMediaTitle(separate, message)), ...separate.map(toMediaPart));
  }
  return [...createContent("user", results), ...createContent("user", attachments)];
}

function canBeInResult(block: MediaBlock): boolean {
  return block.source.type === "base64" && RESULT_TYPES.test(getMediaType(block) ?? "");
}

function toResultPart(
  message: ToolResultMessage,
  media: readonly MediaBlock[],
  { hasCallIds }: ContentsOptions,
): WirePart {
  // Without an "Error:" prefix: the name of the response's field marks an error.
  const text = toResultText({ ...message, isError: false });
  return {
    functionResponse: {
      ...(hasCallIds && { id: toWireName(message.toolCallId, CALL_ID_RULE) }),
      name: toWireName(message.toolName, GOOGLE_NAME_RULE),
      response: message.isError ? { error: text } : { output: text },
      ...(media.length > 0 && { parts: media.map(toMediaPart) }),
    },
  };
}

function toReplyContents(
  message: AssistantMessage,
  { model, requiresSignatures, hasCallIds }: ContentsOptions,
): WireContent[] {
  const isOwn = isOwnReply(message, model);
  const parts = message.content.flatMap((block) => toReplyParts(block, { isOwn, hasCallIds }));
  const firstCallIndex = parts.findIndex(({ functionCall }) => functionCall !== undefined);
  const firstCall = parts[firstCallIndex];
  const isUnsigned = firstCall !== undefined && firstCall.thoughtSignature === undefined;
  if (requiresSignatures && isUnsigned) {
    parts[firstCallIndex] = { ...firstCall, thoughtSignature: SIGNATURE_PLACEHOLDER };
  }
  return createContent("model", parts);
}

function toReplyParts(
  block: ContentBlock,
  { isOwn, hasCallIds }: { readonly isOwn: boolean; readonly hasCallIds: boolean },
): WirePart[] {
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
        ...(hasCallIds && { id: toWireName(id, CALL_ID_RULE) }),
        name: toWireName(name, GOOGLE_NAME_RULE),
        args,
      };
      return [{ functionCall, ...signed }];
    }
    case "extension":
      return isOwn && block.typeName === GOOGLE_PART && isReplayedPart(block.data)
        ? [block.data]
        : [];
    case "image":
    case "document":
    case "audio":
      return [];
  }
}
