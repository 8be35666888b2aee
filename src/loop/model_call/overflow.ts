/**
 * Compares the context of a request with one that was rejected as too long.
 *
 * @module
 */

import type { LlmContext } from "../../core/streams/stream.ts";
import { estimateTokens } from "../../core/streams/tokens.ts";

/** Whether a context is shorter than another one, by its estimated tokens. */
export function isSmaller(context: LlmContext, rejected: LlmContext): boolean {
  return countTokens(context) < countTokens(rejected);
}

function countTokens(context: LlmContext): number {
  return context.messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}
