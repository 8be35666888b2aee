/**
 * Long histories, and the transform that summarizes them, for tests of compaction.
 *
 * @module
 */

import { type AgentMessage, userMessage } from "../../src/core/messages/message.ts";
import type { CompactingTransform } from "../../src/memory/context/compaction.ts";
import { summarize, type SummarizeOptions } from "../../src/memory/context/summarize.ts";
import { assistantMessage } from "../../src/testing/messages.ts";

/** Creates a history of exchanges of about 1,000 tokens each; `first` is the number in the first one. */
export function createHistory(exchanges = 9, first = 0): AgentMessage[] {
  return Array.from({ length: exchanges }, (_, index) => first + index).map((number) => [
    userMessage(`question ${number} ${"q".repeat(2000)}`, number),
    assistantMessage(`answer ${number} ${"a".repeat(2000)}`),
  ]).flat();
}

/** Creates a transform that keeps the last step of such a history, and does not retry calls. */
export function createSummarizer(
  options: Pick<SummarizeOptions, "streamFn"> & Partial<SummarizeOptions>,
): CompactingTransform {
  return summarize({
    contextWindow: 10_000,
    maxSummaryTokens: 500,
    keepSteps: 1,
    retry: () => null,
    ...options,
  });
}
