/**
 * Types of the transforms that keep requests within the model's context window.
 *
 * A cut is kept until the threshold is exceeded again, so that the requests in between begin with the same
 * messages and the provider's cache stays valid. The history itself is never changed.
 *
 * @module
 */

import type { TransformInput, TransformOutput } from "../../core/context/context.ts";
import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import type { Cost, Usage } from "../../core/models/usage.ts";
import type { CountTokens, HistoryRange } from "./message_groups.ts";

/** Options for `slidingWindow()` and `summarize()`. */
export interface CompactionOptions {
  /**
   * The model's context window in tokens, or a function that returns it. While it is unknown, only an overflow
   * causes a cut.
   */
  readonly contextWindow: number | ((model: ModelSpec) => number | undefined);
  /** Fraction of the window above which a cut is made; the rest is for the reply. Default: 0.85. */
  readonly threshold?: number | undefined;
  /** Fraction of the window that is in use after a cut. Default: 0.5. */
  readonly target?: number | undefined;
  /**
   * Fraction of the window that is in use after the provider rejected a request as too long; of that request if the window
   * is unknown. Default: 0.35.
   */
  readonly overflowTarget?: number | undefined;
  /**
   * Number of messages at the beginning that are always kept. With 0, a short user message is inserted where the request
   * would not begin with one. Default: 1.
   */
  readonly anchor?: number | undefined;
  /**
   * Number of steps at the end that are kept while they fit. A step is a message, or a reply with its tool
   * results. Default: 4.
   */
  readonly keepSteps?: number | undefined;
  /** Selects messages that are always kept. Default: plans. */
  readonly pin?: ((message: AgentMessage) => boolean) | undefined;
  /** Estimates the tokens of a message. Default: by its length, and that of a custom message as `convertToLlm` converts it. */
  readonly countTokens?: CountTokens | undefined;
}

/**
 * The part of a history that requests omit; a JSON value. The ids decide; the positions are those in the messages that
 * the transform got, and decide for messages without an id.
 */
export interface ContextCut extends HistoryRange {
  /** Id of the first omitted message, if it has one. */
  readonly firstId?: string;
  /** Id of the last omitted message, if it has one. */
  readonly lastId?: string;
  /** Number of messages when the cut was made; later replies answered the shorter request. Default: all messages. */
  readonly length?: number;
  /** Id of the latest of them, if it has one. */
  readonly newestId?: string;
  /** The summary that replaces it. */
  readonly summary?: string;
  /** Whether the summary lacks a part that could not be summarized yet. Default: `false`. */
  readonly isIncomplete?: boolean;
  /** The messages in the part that requests keep: their ids, or the positions of those without one. Default: none. */
  readonly pinned?: readonly (string | number)[];
}

/** The messages of a request. */
export interface ContextView {
  /** The messages. */
  readonly messages: readonly AgentMessage[];
  /**
   * Index of the first message whose reported usage is valid for this request; earlier replies answered a longer one.
   */
  readonly firstTrusted: number;
}

/** Options for {@linkcode CompactingTransform.compact}. */
export interface CompactOptions {
  /** Topics that a summary should emphasize. */
  readonly instructions?: string | undefined;
  /** Number of tokens that are in use afterwards, if messages that are always kept allow it. Default: the `target`. */
  readonly tokens?: number | undefined;
}

/** A `transformContext` that keeps requests within the model's context window. */
export interface CompactingTransform {
  (messages: readonly AgentMessage[], input: TransformInput): Promise<TransformOutput>;
  /** The part of the history that requests omit. */
  readonly cut: ContextCut | undefined;
  /**
   * Returns the messages of a history that the next request sends, if no new cut is made. `firstTrusted` belongs to
   * `messages`, as in {@linkcode TransformInput}. Default: 0.
   */
  view(messages: readonly AgentMessage[], firstTrusted?: number): ContextView;
  /** Makes a cut now, which the next request reports; resolves to `null` if there is nothing to omit. */
  compact(
    messages: readonly AgentMessage[],
    input: TransformInput,
    options?: CompactOptions,
  ): Promise<CompactionReport | null>;
  /** Restores an earlier cut, or removes the current one. */
  restore(cut: ContextCut | undefined): void;
}

/** A cut, given by its messages. */
export interface CutMessages extends Pick<ContextCut, "summary" | "isIncomplete"> {
  /** The first omitted message. */
  readonly first: AgentMessage;
  /** The last omitted message. */
  readonly last: AgentMessage;
  /** The latest message when the cut was made. Default: the latest of all. */
  readonly newest?: AgentMessage | undefined;
  /** The messages in the part that requests keep. Default: none. */
  readonly pinned?: readonly AgentMessage[] | undefined;
}

/** Options for {@linkcode ReportingTransform.restoreHistory}. Not public. */
export interface RestoredHistoryOptions {
  /** Whether another transform may change the messages before this one gets them. Default: `false`. */
  readonly isChanged?: boolean;
}

/** A {@linkcode CompactingTransform} with the members that a recorder needs. Not public. */
export interface ReportingTransform extends CompactingTransform {
  /** Whether a model writes summaries of what is omitted. */
  readonly writesSummaries: boolean;
  /** The current cut, also if the transform got other messages than those of the history. */
  readonly cutMessages: CutMessages | undefined;
  /** Makes a cut now; the next request does not report spending that is passed to `countSpending`. */
  compact(
    messages: readonly AgentMessage[],
    input: TransformInput,
    options?: CompactOptions & {
      /** Called with what the model calls have spent, also before a rejection. */
      readonly countSpending?:
        | ((spent: Pick<CompactionReport, "usage" | "cost">) => void)
        | undefined;
    },
  ): Promise<CompactionReport | null>;
  /** Restores an earlier cut. */
  restoreMessages(cut: CutMessages | undefined): void;
  /** Finds the cut in a restored history, whose replies have answered the messages before them. */
  restoreHistory(messages: readonly AgentMessage[], options?: RestoredHistoryOptions): void;
  /** Takes back a report that could not be emitted; the next request reports it. */
  returnReport(report: CompactionReport): void;
  /** Called with the report of each `compact()`, which waits for the returned promise. */
  onCompact: ((report: CompactionReport) => Promise<void>) | undefined;
}

/** Options for {@linkcode SummaryWriter.write}. */
export interface SummaryRequest {
  /** The messages that this cut omits and an earlier one did not. */
  readonly messages: readonly AgentMessage[];
  /** The summary of the messages that were already omitted. */
  readonly previous: string | undefined;
  /** Topics that the summary should emphasize. */
  readonly instructions: string | undefined;
  /** The model's context window in tokens; `undefined` if unknown. */
  readonly contextWindow: number | undefined;
  /** The input of the transform. */
  readonly input: TransformInput;
}

/** Result of {@linkcode SummaryWriter.write}. */
export interface SummaryResult {
  /** The summary; missing if none was written. */
  readonly summary?: string;
  /** The reason why no summary was written. */
  readonly problem?: string;
  /** Whether a policy stopped the model call, so that the next request may try again. Default: `false`. */
  readonly isRefused?: boolean;
  /** Token counts of the model call. */
  readonly usage?: Usage;
  /** Cost of the model call. */
  readonly cost?: Cost;
}

/** Writes summaries. */
export interface SummaryWriter {
  /** Returns the maximum tokens of a summary, by the context window of the model in tokens. */
  readonly getMaxTokens: (contextWindow: number | undefined) => number;
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
  /** Writes a summary. Never rejects: the result of an abort has what was spent until then. */
  write(request: SummaryRequest): Promise<SummaryResult>;
}
