/**
 * A request with its size, and its size after a cut.
 *
 * @module
 */

import type { TransformInput } from "../../core/context/context.ts";
import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { AppliedCut } from "./applied_cut.ts";
import { estimateContext, estimateMedia } from "./context_count.ts";
import type { CountTokens } from "./message_groups.ts";

/** The size of a request and its limit. */
export interface ContextUsage {
  readonly used: number;
  /** Tokens that the provider counts per estimated token; estimated on each read. */
  readonly scale: number;
  readonly window: number | undefined;
  /** Tokens above which a cut is made. */
  readonly limit: number;
}

/** A request that may become smaller. */
export interface MeasuredRequest {
  /** The history. */
  readonly messages: readonly AgentMessage[];
  readonly input: TransformInput;
  readonly measure: ContextUsage;
  /** Called with the report. Default: the next request emits it. */
  readonly onReport?: (report: CompactionReport) => void;
}

/** The tokens of a request after a cut. */
export interface CutEstimate {
  /** All tokens. */
  readonly after: number;
  /** Those without media whose tokens are uncertain. */
  readonly required: number;
}

/** Estimates the tokens of a request after a cut. The provider decides about media, unless `countTokens` counts it. */
export function estimateAfterCut(
  { messages, input, measure: { scale } }: MeasuredRequest,
  cut: AppliedCut,
  { countTokens, countsMedia }: {
    readonly countTokens: CountTokens;
    readonly countsMedia: boolean;
  },
): CutEstimate {
  const kept = applyCut(messages, cut);
  const after = Math.round(estimateContext({ ...input, messages: kept }, countTokens) * scale);
  const uncertain = countsMedia ? 0 : estimateMedia(kept) * scale;
  return { after, required: after - uncertain };
}

/** Whether the messages of a request with a cut are shorter than those of the request so far, by their estimate. */
export function isShorter(
  messages: readonly AgentMessage[],
  cut: AppliedCut,
  { sent, countTokens }: {
    readonly sent: readonly AgentMessage[];
    readonly countTokens: CountTokens;
  },
): boolean {
  const count = (counted: readonly AgentMessage[]) =>
    counted.reduce((sum, message) => sum + countTokens(message), 0);
  return count(applyCut(messages, cut)) < count(sent);
}

/** Returns the messages of a request with a cut. */
export function applyCut(
  messages: readonly AgentMessage[],
  { from, to, replacement }: AppliedCut,
): AgentMessage[] {
  return [...messages.slice(0, from), ...replacement, ...messages.slice(to)];
}
