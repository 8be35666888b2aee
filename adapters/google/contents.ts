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
  hasWords,
  isOwnReply,
  resultText,
  shownBlocks,
  unreadFile,
} from "../kit/request/history.ts";
import { CALL_ID_RULE, wireName } from "../kit/request/wire_names.ts";
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
  readonly isSigned: boolean;
}

/** Google's own stand-in for the signature of a call that another model made. */
const NO_SIGNATURE = "skip_thought_signature_validator";

/** Writes the conversation: it begins and ends with the user, and the results of a batch come together. */
export function wireContents(
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
    contents.push(...wireResults(batch, options));
    batch = [];
    if (message.role === "user") contents.push(...content("user", wireShown(message.content)));
    else contents.push(...wireReply(message, { ...options, answersNow: index > lastPrompt }));
  }
  contents.push(...wireResults(batch, options));
  if (contents[0]?.role !== "user") contents.unshift(said("(The conversation goes on.)"));
  return contents.at(-1)?.role === "model" ? [...contents, said("Continue.")] : contents;
}

function content(role: WireContent["role"], parts: readonly WirePart[]): WireContent[] {
  return parts.length > 0 ? [{ role, parts }] : [];
}

function said(text: string): WireContent {
  return { role: "user", parts: [{ text }] };
}

function wireShown(blocks: readonly ContentBlock[]): WirePart[] {
  return shownBlocks(blocks).map(shownPart);
}

function shownPart(block: TextBlock | ImageBlock): WirePart {
  return block.type === "text" ? { text: block.text } : imagePart(block);
}

function imagePart({ source }: ImageBlock): WirePart {
  switch (source.type) {
    case "base64":
      return { inlineData: { mimeType: source.mediaType, data: source.data } };
    case "url": {
      const [, mimeType, data] = /^data:([^;,]+)[^,]*;base64,(.*)$/s.exec(source.url) ?? [];
      if (mimeType !== undefined) return { inlineData: { mimeType, data } };
      return { fileData: { mimeType: mediaTypeOf(source.url), fileUri: source.url } };
    }
    case "file":
      throw unreadFile(source.path);
  }
}

/** The media type that an address tells; Google wants one. */
function mediaTypeOf(url: string): string {
  const extension = /\.(png|webp|gif|heic|heif)(?:[?#]|$)/i.exec(url)?.[1];
  return `image/${extension?.toLowerCase() ?? "jpeg"}`;
}

/** All results of one batch; where results carry no images, these follow in a message of their own. */
function wireResults(
  batch: readonly ToolResultMessage[],
  { isSigned }: ContentsOptions,
): WireContent[] {
  const images = isSigned ? [] : batch.flatMap((message) => {
    const parts = imagesOf(message);
    return parts.length > 0 ? [{ text: `Images from ${message.toolName}:` }, ...parts] : [];
  });
  return [
    ...content("user", batch.map((message) => wireResult(message, isSigned))),
    ...content("user", images),
  ];
}

function wireResult(message: ToolResultMessage, takesImages: boolean): WirePart {
  // The field tells whether it is an error.
  const text = resultText({ ...message, isError: false });
  const parts = takesImages ? imagesOf(message) : [];
  return {
    functionResponse: {
      id: wireName(message.toolCallId, CALL_ID_RULE),
      name: wireName(message.toolName, GOOGLE_NAME_RULE),
      response: message.isError ? { error: text } : { output: text },
      ...(parts.length > 0 && { parts }),
    },
  };
}

function imagesOf(message: ToolResultMessage): WirePart[] {
  return message.content.flatMap((block) => block.type === "image" ? [imagePart(block)] : []);
}

interface ReplyOptions extends ContentsOptions {
  /** Whether the message belongs to the answer that is being given. */
  readonly answersNow: boolean;
}

function wireReply(
  message: AssistantMessage,
  { model, isSigned, answersNow }: ReplyOptions,
): WireContent[] {
  const isOwn = isOwnReply(message, model);
  const parts = message.content.flatMap((block) => replyPart(block, isOwn));
  const firstCall = parts.findIndex(({ functionCall }) => functionCall !== undefined);
  const call = parts[firstCall];
  if (isSigned && answersNow && call && call.thoughtSignature === undefined) {
    parts[firstCall] = { ...call, thoughtSignature: NO_SIGNATURE };
  }
  return content("model", parts);
}

function replyPart(block: ContentBlock, isOwn: boolean): WirePart[] {
  const signature = "signature" in block ? block.signature : undefined;
  const signed = isOwn && signature ? { thoughtSignature: signature } : undefined;
  switch (block.type) {
    case "text":
      return hasWords(block) || signed ? [{ text: block.text, ...signed }] : [];
    case "thinking":
      return signed ? [{ text: block.thinking, thought: true, ...signed }] : [];
    case "tool_call": {
      const { id, name, arguments: args } = block;
      const functionCall = {
        id: wireName(id, CALL_ID_RULE),
        name: wireName(name, GOOGLE_NAME_RULE),
        args,
      };
      return [{ functionCall, ...signed }];
    }
    case "extension":
      return isOwn && block.typeName === GOOGLE_PART ? partOf(block.data) : [];
    case "image":
      return [];
  }
}

function partOf(data: unknown): JsonObject[] {
  return isJsonObject(data) ? [data] : [];
}
