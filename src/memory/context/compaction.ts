/**
 * Histories that outgrow the model's window: what both ways of fitting them share.
 *
 * A cut stays until the threshold is passed again, so that requests in between begin with the same words and
 * the provider's cache holds. The history itself is never changed.
 *
 * @module
 */

import type { CompactionReport, TransformInput, TransformOutput } from "../../core/context.ts";
import type { AgentMessage } from "../../core/message.ts";
import type { ModelSpec } from "../../core/model.ts";
import type { Cost, Usage } from "../../core/usage.ts";
import type { CountTokens, HistoryRange } from "./message_groups.ts";

/** How a history is made to fit. */
export interface CompactionOptions {
  /** Tokens that the model takes, or a function that knows; where it does not, only an overflow leads to a cut. */
  readonly contextWindow: number | ((model: ModelSpec) => number | undefined);
  /** The part of the window above which a cut is made; the rest is for the reply. Default: 0.85. */
  readonly threshold?: number;
  /** The part of the window that a cut leaves in use. Default: 0.5. */
  readonly target?: number;
  /** The part that is left in use after the provider refused a request as too long. Default: 0.35. */
  readonly overflowTarget?: number;
  /** How many messages at the beginning always stay. Default: 1. */
  readonly anchor?: number;
  /** How many steps (a message, or a reply with its tool results) at the end stay as long as they fit. Default: 4. */
  readonly keepSteps?: number;
  /** Messages that stay wherever they are. Default: plans. */
  readonly pin?: (message: AgentMessage) => boolean;
  /** Estimates a message. Default: {@linkcode estimateTokens}. */
  readonly countTokens?: CountTokens;
}

/** What requests leave out now; a JSON value. */
export interface ContextCut extends HistoryRange {
  /** What stands for it. */
  readonly summary?: string;
}

/** A request's messages, and the position from which on replies tell its size. */
export interface ContextView {
  /** The messages. */
  readonly messages: readonly AgentMessage[];
  /** Replies before this position answered a longer request. */
  readonly firstTrusted: number;
}

/** How a cut by hand is made. */
export interface CompactOptions {
  /** What a summary should dwell on. */
  readonly instructions?: string;
}

/** A `transformContext` that keeps requests within the model's window. */
export interface CompactingTransform {
  (messages: readonly AgentMessage[], input: TransformInput): Promise<TransformOutput>;
  /** What requests leave out now. */
  readonly cut: ContextCut | undefined;
  /** A cut that no request has told of yet. */
  readonly unreportedCompaction: CompactionReport | undefined;
  /** What the next request would carry of a history, if no new cut is made. */
  view(messages: readonly AgentMessage[]): ContextView;
  /** Makes a cut now; `null` when there is nothing to leave out. The next request tells of it. */
  compact(
    messages: readonly AgentMessage[],
    input: TransformInput,
    options?: CompactOptions,
  ): Promise<CompactionReport | null>;
  /** Goes back to a cut that was made earlier, or to none. */
  restore(cut: ContextCut | undefined): void;
}

/** What is to be summarised. */
export interface SummaryRequest {
  /** What is left out now and was not before. */
  readonly messages: readonly AgentMessage[];
  /** The summary of what was left out before. */
  readonly previous: string | undefined;
  /** What the summary should dwell on. */
  readonly instructions: string | undefined;
  /** The model's window, where it is known, in tokens. */
  readonly contextWindow: number | undefined;
  /** What the transform was told. */
  readonly input: TransformInput;
}

/** What came of a summary. */
export interface SummaryResult {
  /** The summary; missing when none could be had. */
  readonly summary?: string;
  /** Why none could be had. */
  readonly problem?: string;
  /** Tokens it took. */
  readonly usage?: Usage;
  /** What it cost. */
  readonly cost?: Cost;
}

/** Writes summaries. */
export interface SummaryWriter {
  /** Tokens that a summary may take in later requests. */
  readonly maxTokens: number;
  /** Writes one. Rejects only when it was aborted. */
  write(request: SummaryRequest): Promise<SummaryResult>;
}
