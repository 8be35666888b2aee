/**
 * One estimate of tokens, for compaction and for the context gauge.
 *
 * @module
 */

import type { ContentBlock } from "./content.ts";
import type { AgentMessage } from "./message.ts";
import type { ToolSpec } from "./stream.ts";

/** What most providers charge for an image of usual size. */
const TOKENS_PER_IMAGE = 1200;
/** Role, separators and ids around each message and block. */
const TOKENS_PER_MESSAGE = 4;

/** Estimates the tokens of a text: 4 characters of ASCII each, other scripts about one per character and a half. */
export function estimateTextTokens(text: string): number {
  let wide = 0;
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) wide++;
  return Math.ceil((text.length - wide) / 4 + wide / 1.5);
}

const estimateCache = new WeakMap<AgentMessage, number>();

/** Estimates the tokens of a message; kept per message, so asking again is free. */
export function estimateTokens(message: AgentMessage): number {
  const known = estimateCache.get(message);
  if (known !== undefined) return known;
  const estimate = TOKENS_PER_MESSAGE + estimateContentTokens(message);
  estimateCache.set(message, estimate);
  return estimate;
}

/** Estimates the tokens that tools take in a request. */
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
