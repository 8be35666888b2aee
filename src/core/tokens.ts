/**
 * Token estimates for compaction and the context gauge.
 *
 * @module
 */

import type { ContentBlock } from "./content.ts";
import type { AgentMessage } from "./message.ts";
import type { ToolSpec } from "./stream.ts";

/** Tokens that most providers count for an image of common size. */
const TOKENS_PER_IMAGE = 1200;
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
    case "extension":
      return estimateTextTokens(JSON.stringify(block.data) ?? "");
  }
}
