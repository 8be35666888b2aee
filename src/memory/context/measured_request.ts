/**
 * A request with its size, and its size after a cut.
 *
 * @module
 */

import type { TransformInput } from "../../core/context/context.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import type { AppliedCut } from "./applied_cut.ts";
import type { ContextView } from "./compaction.ts";
import { countContext, estimateContext, estimateMedia } from "./context_count.ts";
import type { CountTokens } from "./message_groups.ts";

/** Lower limit of the tokens that a provider counts per estimated token. */
const MIN_SCALE = 0.5;

/** Maximum error of a calculated number of tokens. */
const ROUNDING_ERROR = 1e-6;

/** The size of a request and its limit. */
export interface ContextUsage {
  /** Tokens of the request. */
  readonly used: number;
  /** Tokens that the provider counts per estimated token; estimated on each read. */
  readonly scale: number;
  /** The context window in tokens; `undefined` if unknown. */
  readonly window: number | undefined;
  /** Tokens above which a cut is made. */
  readonly limit: number;
}

/** How tokens are estimated. */
export interface TokenEstimate {
  /** Estimates the tokens of a message. */
  readonly countTokens: CountTokens;
  /** Whether that knows the tokens of media, about which the provider decides otherwise. */
  readonly countsMedia: boolean;
}

/** A request that may become smaller. */
export interface MeasuredRequest extends TokenEstimate {
  /** The history. */
  readonly messages: readonly AgentMessage[];
  /** The input of the transform. */
  readonly input: TransformInput;
  /** The size of the request so far. */
  readonly measure: ContextUsage;
}

/** The tokens of a request after a cut. */
export interface CutEstimate {
  /** All tokens. */
  readonly after: number;
  /** Whether those without media whose tokens are uncertain are below the limit. */
  readonly fits: boolean;
}

/** Options for {@linkcode measureContext}. */
export interface MeasureOptions extends TokenEstimate {
  /** The context window in tokens, or a function that returns it. */
  readonly contextWindow: number | ((model: ModelSpec) => number | undefined);
  /** Fraction of the window above which a cut is made. */
  readonly threshold: number;
}

/** Measures a request with the messages of a view. */
export function measureContext(
  { messages, firstTrusted }: ContextView,
  input: TransformInput,
  { contextWindow, threshold, ...estimate }: MeasureOptions,
): ContextUsage {
  const { countTokens } = estimate;
  const request = { ...input, messages };
  const { used, reported } = countContext(request, { firstTrusted, countTokens });
  const known = typeof contextWindow === "function" ? contextWindow(input.model) : contextWindow;
  const limit = known === undefined ? Infinity : known * threshold;
  const uncounted = reported > 0 ? 0 : estimateUncounted(messages, limit, estimate);
  // A rejected request was longer than the window, whatever was counted.
  const actual = input.overflow ? Math.max(used, known ?? 0) : used - uncounted;
  return {
    used: actual,
    window: known ?? (input.overflow ? used : undefined),
    limit,
    // Most requests need no estimate, which takes time for a long history.
    get scale() {
      if (reported === 0 && !input.overflow) return 1;
      const estimate = reported === 0 ? used : estimateContext(request, countTokens);
      return Math.max(MIN_SCALE, actual / Math.max(1, estimate));
    },
  };
}

/** Estimates the media that exceeds the limit, though the provider has replied without counting it. */
function estimateUncounted(
  messages: readonly AgentMessage[],
  limit: number,
  { countsMedia }: TokenEstimate,
): number {
  if (countsMedia) return 0;
  const answered = messages.findLastIndex(({ role }) => role === "assistant");
  const media = estimateMedia(messages.slice(0, Math.max(0, answered)));
  return media > limit ? media : 0;
}

/** Estimates a request after a cut. */
export function estimateAfterCut(
  { messages, input, measure: { scale, limit }, countTokens, countsMedia }: MeasuredRequest,
  cut: AppliedCut,
): CutEstimate {
  const kept = applyCut(messages, cut);
  const estimate = estimateContext({ ...input, messages: kept }, countTokens) * scale;
  const rounded = Math.round(estimate);
  // Messages that were chosen up to the limit do not exceed it.
  const after = rounded > limit ? Math.floor(estimate + ROUNDING_ERROR) : rounded;
  const uncertain = countsMedia ? 0 : estimateMedia(kept) * scale;
  return { after, fits: after - uncertain <= limit };
}

/** Whether the messages of a request with a cut are shorter than those that were sent so far, by their estimate. */
export function isShorter(
  { messages, countTokens }: MeasuredRequest,
  cut: AppliedCut,
  sent: readonly AgentMessage[],
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
