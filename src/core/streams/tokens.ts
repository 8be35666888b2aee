/**
 * Token estimates for compaction and the context gauge.
 *
 * @module
 */

import type { ContentBlock, MediaSource } from "../messages/content.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { ToolSpec } from "./stream.ts";

/** Tokens that most providers count for an image of common size. */
const TOKENS_PER_IMAGE = 1200;
/** Tokens of a short document whose length is unknown. */
const TOKENS_PER_DOCUMENT = 2000;
/** Base64 characters of a PDF per token: pages of 50 KB with 2,000 tokens. */
const PDF_CHARACTERS_PER_TOKEN = 33;
/** Base64 characters of a text document per token: 4 characters of text. */
const TEXT_CHARACTERS_PER_TOKEN = 5.3;
/** Base64 characters of audio per token: 16 KB a second with 32 tokens. */
const AUDIO_CHARACTERS_PER_TOKEN = 680;
/** Tokens of a short audio clip whose length is unknown. */
const TOKENS_PER_AUDIO = 1000;
/** Tokens for role, separators and ids of a message or tool. */
const TOKENS_PER_MESSAGE = 4;

/** Estimates the tokens of a text: one per 4 ASCII characters and one per 1.5 other characters. */
export function estimateTextTokens(text: string): number {
  let nonAscii = 0;
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) nonAscii++;
  return Math.ceil((text.length - nonAscii) / 4 + nonAscii / 1.5);
}

const estimateCache = new WeakMap<AgentMessage, number>();

/** Estimates the tokens of a message; cached by message object. */
export function estimateTokens(message: AgentMessage): number {
  const cached = estimateCache.get(message);
  if (cached !== undefined) return cached;
  const estimate = TOKENS_PER_MESSAGE + estimateContentTokens(message);
  estimateCache.set(message, estimate);
  return estimate;
}

/** Estimates the tokens of the tool descriptions in a request. */
export function estimateToolTokens(tools: readonly ToolSpec[]): number {
  let tokens = 0;
  for (const { name, description, parameters } of tools) {
    tokens += TOKENS_PER_MESSAGE +
      estimateTextTokens(name + description + JSON.stringify(parameters));
  }
  return tokens;
}

/** Estimates the tokens of the audio in a message. */
export function estimateAudioTokens(message: AgentMessage): number {
  if (message.role === "custom") return 0;
  let tokens = 0;
  for (const block of message.content) {
    if (block.type === "audio") tokens += estimateBlockTokens(block);
  }
  return tokens;
}

function estimateContentTokens(message: AgentMessage): number {
  if (message.role === "custom") return 0;
  let tokens = 0;
  for (const block of message.content) tokens += estimateBlockTokens(block);
  return tokens;
}

function estimateBlockTokens(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return estimateTextTokens(block.text);
    case "thinking":
      return estimateTextTokens(block.thinking);
    case "tool_call":
      return TOKENS_PER_MESSAGE +
        estimateTextTokens(block.name + JSON.stringify(block.arguments));
    case "image":
      return TOKENS_PER_IMAGE;
    case "document": {
      const charactersPerToken = block.mediaType.startsWith("text/")
        ? TEXT_CHARACTERS_PER_TOKEN
        : PDF_CHARACTERS_PER_TOKEN;
      return estimateMediaTokens(block.source, charactersPerToken) ?? TOKENS_PER_DOCUMENT;
    }
    case "audio":
      return estimateMediaTokens(block.source, AUDIO_CHARACTERS_PER_TOKEN) ?? TOKENS_PER_AUDIO;
    case "extension":
      return estimateTextTokens(JSON.stringify(block.data) ?? "");
  }
}

/** Estimates the tokens of base64 data; `undefined` if the length of the data is unknown. */
function estimateMediaTokens(source: MediaSource, charactersPerToken: number): number | undefined {
  if (source.type !== "base64") return undefined;
  return Math.ceil(source.data.length / charactersPerToken);
}
