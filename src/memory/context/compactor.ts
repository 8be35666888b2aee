/**
 * Decides when to cut a history, makes the cut, and applies it to every request.
 *
 * @module
 */

import type { TransformInput, TransformOutput } from "../../core/context/context.ts";
import { AbortedError, ContextWindowOverflowError } from "../../core/errors/errors.ts";
import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { estimateTokens } from "../../core/streams/tokens.ts";
import { type AppliedCut, createCut, toChosenCut } from "./applied_cut.ts";
import { refuseAsync } from "./check_compaction.ts";
import { chooseCut, type ChosenCut } from "./choose_cut.ts";
import type {
  CompactionOptions,
  ContextCut,
  ContextView,
  CutMessages,
  ReportingTransform,
  RestoredHistoryOptions,
  SummaryRequest,
  SummaryResult,
  SummaryWriter,
} from "./compaction.ts";
import { createTokenCounter, estimateContext } from "./context_count.ts";
import { type CompactionOutcome, createReport } from "./create_report.ts";
import { CurrentCut } from "./current_cut.ts";
import { EditedHistory } from "./edited_history.ts";
import {
  estimateAfterCut,
  isShorter,
  measureContext,
  type MeasuredRequest,
} from "./measured_request.ts";
import { groupMessages } from "./message_groups.ts";
import { listOmitted, listSummarized } from "./omitted_messages.ts";
import { isPlan } from "./plan_message.ts";
import { RejectedRequest } from "./rejected_request.ts";
import { addSpent, omitSpending, toSpendingReport } from "./report_spending.ts";
import { SummaryBackoff } from "./summary_backoff.ts";
import { OPENING_MESSAGE } from "./summary_messages.ts";
import { omitSummary, toAborted } from "./unused_summary.ts";

/** The options with their defaults. */
type ResolvedOptions = {
  readonly [Name in keyof CompactionOptions]-?: NonNullable<CompactionOptions[Name]>;
};

/** Options for a cut that makes a request smaller. */
interface ShrinkOptions {
  /** Number of tokens after the cut, as the provider counts them. */
  readonly goal: number;
  /** Topics that the summary should emphasize. Default: none. */
  readonly instructions?: string | undefined;
  /** Whether the cut was requested, so that an attempt shortly before does not matter. Default: `false`. */
  readonly isManual?: boolean;
}

/** A request to make smaller. */
interface CompactionRequest extends MeasuredRequest {
  /** Called with the report. Default: the next request emits it. */
  readonly onReport?: (report: CompactionReport) => void;
}

/** Keeps the requests of one agent within the context window. */
export class Compactor {
  readonly #options: ResolvedOptions;
  readonly #writer: SummaryWriter | undefined;
  readonly #backoff: SummaryBackoff;
  readonly #hasOwnCount: boolean;
  /** Called with the report of each manual compaction. */
  onCompact: ReportingTransform["onCompact"];
  readonly #cut: CurrentCut;
  #unreported: CompactionReport | undefined;
  readonly #rejected = new RejectedRequest();
  readonly #edited = new EditedHistory();

  constructor(options: CompactionOptions, writer: SummaryWriter | undefined) {
    const { contextWindow, threshold = 0.85, target = 0.5, overflowTarget = 0.35 } = options;
    const { anchor = 1, keepSteps = 4, pin = isPlan, countTokens = estimateTokens } = options;
    this.#options = {
      contextWindow: typeof contextWindow === "function"
        ? refuseAsync("contextWindow", contextWindow)
        : contextWindow,
      threshold,
      target,
      overflowTarget,
      anchor,
      keepSteps,
      pin: refuseAsync("pin", pin),
      countTokens: refuseAsync("countTokens", countTokens),
    };
    this.#hasOwnCount = options.countTokens !== undefined;
    this.#cut = new CurrentCut(this.#options);
    this.#writer = writer;
    this.#backoff = new SummaryBackoff(writer?.now);
  }

  /** The part of the history that requests omit. */
  get cut(): ContextCut | undefined {
    return this.#cut.value;
  }

  /** The same with its messages. */
  get cutMessages(): CutMessages | undefined {
    return this.#cut.messages;
  }

  /** Replaces the cut by a stored one, or by none. */
  restore(cut: ContextCut | undefined): void {
    this.#forgetCut();
    this.#cut.restore(cut);
  }

  /** Replaces the cut by one with these messages, or by none. */
  restoreMessages(cut: CutMessages | undefined): void {
    this.#forgetCut();
    this.#cut.restoreMessages(cut);
  }

  #forgetCut(): void {
    this.#unreported = this.#unreported && toSpendingReport(this.#unreported);
  }

  /** Finds the cut in a restored history. */
  restoreHistory(
    messages: readonly AgentMessage[],
    { isChanged }: RestoredHistoryOptions = {},
  ): void {
    this.#edited.restore(isChanged ? undefined : messages);
    this.#cut.find(messages);
  }

  /** Takes back a report that could not be emitted; the next request reports it. */
  returnReport(report: CompactionReport): void {
    this.#unreported = addSpent(report, this.#unreported);
  }

  /** Returns the messages of a history that the next request sends, if no new cut is made. */
  view(messages: readonly AgentMessage[], firstTrusted?: number): ContextView {
    return this.#cut.view(messages, firstTrusted);
  }

  /** Makes the next request fit. */
  async transform(
    messages: readonly AgentMessage[],
    { overflow, ...others }: TransformInput,
  ): Promise<TransformOutput> {
    const isLatest = this.#rejected.hasCut(others.signal);
    const input = { ...others, overflow: overflow && isLatest };
    try {
      await this.#fit(this.#measure(messages, input));
    } catch (error) {
      // An aborted run sends nothing, and counts what the summary has spent.
      if (!input.signal.aborted || !this.#unreported) throw error;
    }
    return this.#createOutput(messages, input);
  }

  /** Makes a cut if the request is too long, and else completes the summary of the current one. */
  async #fit(request: CompactionRequest): Promise<void> {
    const { input, measure: { window = Infinity, used, limit } } = request;
    const { target, overflowTarget } = this.#options;
    if (!input.overflow && used <= limit) return await this.#completeSummary(request);
    const goal = input.overflow ? window * overflowTarget : Math.min(window * target, limit);
    await this.#shrink(request, { goal });
  }

  /** Makes a cut now; resolves to `null` if there is nothing to omit. */
  async compact(
    messages: readonly AgentMessage[],
    input: TransformInput,
    { instructions, tokens = Infinity, countSpending }: Parameters<
      ReportingTransform["compact"]
    >[2] = {},
  ): Promise<CompactionReport | null> {
    const measured = this.#measure(messages, input);
    const { measure } = measured;
    const { target } = this.#options;
    const goal = Math.min((measure.window ?? measure.used) * target, measure.limit, tokens);
    if (measure.used <= goal) return null;
    let made: CompactionReport | undefined; // Also what one that is aborted has spent.
    const onReport = (report: CompactionReport) => void (made = report);
    const request = { ...measured, onReport };
    let report: CompactionReport | undefined;
    try {
      report = await this.#shrink(request, { goal, instructions, isManual: true });
      if (report?.droppedCount) this.#rejected.addCut();
    } finally {
      if (made) countSpending?.(made);
      const rest = countSpending ? report && omitSpending(report) : made;
      if (rest) this.returnReport(rest);
      // The next request reports spending that is not counted.
      if (made) await this.onCompact?.(countSpending ? made : omitSpending(made));
    }
    return report ?? null;
  }

  /** Returns the view, with the report of a cut that was not reported yet. */
  #createOutput(
    messages: readonly AgentMessage[],
    { firstTrusted }: TransformInput,
  ): TransformOutput {
    const report = this.#unreported;
    this.#unreported = undefined;
    const view = this.view(messages, firstTrusted);
    if (view.messages === messages && !report) return messages;
    return report ? { ...view, report } : view;
  }

  #measure(messages: readonly AgentMessage[], input: TransformInput): MeasuredRequest {
    const { contextWindow, threshold, countTokens: countOwn } = this.#options;
    const countsMedia = this.#hasOwnCount;
    const countTokens = countsMedia ? countOwn : createTokenCounter(input.convertToLlm);
    const edited = this.#cut.isLost(messages)
      ? this.#edited.distrust(messages)
      : this.#edited.getFirstTrusted(messages, countTokens);
    const view = this.view(messages, Math.max(input.firstTrusted ?? 0, edited));
    const options = { contextWindow, threshold, countTokens, countsMedia };
    const measure = measureContext(view, input, options);
    return { messages, input, measure, countTokens, countsMedia };
  }

  /** Makes a cut, with a summary if there is a writer; returns its report, `undefined` if there is nothing to omit. */
  async #shrink(
    request: CompactionRequest,
    { goal, instructions, isManual = false }: ShrinkOptions,
  ): Promise<CompactionReport | undefined> {
    const { messages, input, measure } = request;
    const chosen = this.#chooseCut(request, { goal, isManual });
    const unsummarized = chosen && createCut(messages, chosen);
    if (!chosen || !unsummarized) return this.#dropSummary(request);
    const before = this.#cut.find(messages);
    this.#assertFits(request, unsummarized);
    // While the messages fit, a later request may write the summary that fails now.
    const canWait = !input.overflow && measure.used <= (measure.window ?? Infinity);
    if (canWait && !isManual && this.#backoff.isActive) return undefined;
    const known = new Set([...unsummarized.pinned, ...listSummarized(messages, before)]);
    const written = await this.#writeSummary(request, {
      messages: messages.slice(chosen.from, chosen.to).filter((message) => !known.has(message)),
      previous: before?.summary,
      instructions,
    });
    const summary = written?.summary;
    const complete = summary === undefined ? undefined : createCut(messages, chosen, { summary });
    const fits = complete && estimateAfterCut(request, complete).fits;
    const replaces = complete && isShorter(request, complete, this.view(messages).messages);
    if (fits && replaces) return this.#apply(request, { cut: complete, written });
    if (complete && canWait) this.#backoff.update(false);
    if (written && canWait) return this.#report(request, { written: omitSummary(written, fits) });
    return this.#applyWithoutSummary(request, { chosen, written, previous: before?.summary });
  }

  /** Applies a cut whose summary was not written, or does not fit; it keeps the previous summary if that fits. */
  #applyWithoutSummary(
    request: CompactionRequest,
    { chosen, written, previous }: {
      readonly chosen: ChosenCut;
      readonly written: SummaryResult | undefined;
      readonly previous: string | undefined;
    },
  ): CompactionReport | undefined {
    const { messages } = request;
    const isTooLong = written?.summary !== undefined;
    const isIncomplete = written !== undefined;
    const kept = previous === undefined
      ? undefined
      : createCut(messages, chosen, { summary: previous, isIncomplete });
    const cut = kept && estimateAfterCut(request, kept).fits
      ? kept
      : createCut(messages, chosen, { isIncomplete: isIncomplete && !isTooLong });
    if (!cut) return undefined;
    if (isTooLong) this.#cut.markFull(cut);
    return this.#apply(request, { cut, written: written && omitSummary(written) });
  }

  /** Omits the summary from a rejected request of which nothing else can be omitted. */
  #dropSummary(request: CompactionRequest): CompactionReport | undefined {
    const { messages, input } = request;
    const before = this.#cut.find(messages);
    if (!input.overflow || before?.summary === undefined) return undefined;
    const cut = createCut(messages, toChosenCut(before));
    if (!cut) return undefined;
    this.#cut.markFull(cut);
    return this.#apply(request, { cut, written: omitSummary({ summary: before.summary }) });
  }

  /** Writes the summary of a cut that was made without one, unless an attempt has failed shortly before. */
  async #completeSummary(request: CompactionRequest): Promise<void> {
    const { messages } = request;
    const cut = this.#cut.find(messages);
    if (!cut?.isIncomplete || this.#cut.isFull(cut) || !this.#writer || this.#backoff.isActive) {
      return;
    }
    const written = await this.#writeSummary(request, {
      messages: listOmitted(messages, cut),
      previous: cut.summary,
      instructions: undefined,
    });
    if (written?.summary === undefined) {
      if (written) this.#report(request, { written });
      return;
    }
    const { summary } = written;
    const complete = createCut(messages, toChosenCut(cut), { summary, length: cut.length });
    if (!complete) return;
    if (estimateAfterCut(request, complete).fits) {
      this.#apply(request, { cut: complete, written });
      return;
    }
    this.#cut.markFull(cut);
    // The current cut fits by the count of the provider, which may be far below an estimate.
    const tokensAfter = Math.round(request.measure.used);
    this.#apply(request, { cut, written: omitSummary(written), tokensAfter });
  }

  /** Writes a summary, if there is a writer. Rejects if the run is aborted; what that has spent is reported. */
  async #writeSummary(
    request: CompactionRequest,
    part: Pick<SummaryRequest, "messages" | "previous" | "instructions">,
  ): Promise<SummaryResult | undefined> {
    const { input, measure } = request;
    const { signal } = input;
    const written = await this.#writer?.write({ ...part, input, contextWindow: measure.window });
    if (signal.aborted) {
      if (written?.usage) this.#report(request, { written: toAborted(written) });
      throw new AbortedError(undefined, { cause: signal.reason });
    }
    if (written?.problem !== undefined && !written.isRefused) this.#backoff.update(false);
    return written;
  }

  /** Applies a cut, whose tokens are estimated by default; throws when they exceed the limit. */
  #apply(
    request: CompactionRequest,
    { cut, written, tokensAfter = this.#assertFits(request, cut) }: {
      readonly cut: AppliedCut;
      readonly written: SummaryResult | undefined;
      readonly tokensAfter?: number;
    },
  ): CompactionReport {
    if (written?.summary !== undefined) this.#backoff.update(true);
    // The replies of a run that has started meanwhile have answered requests without the cut.
    const isLatest = this.#edited.isLatest(request.messages);
    this.#cut.apply(isLatest ? cut : { ...cut, newest: undefined }, request.messages);
    this.#rejected.addCut(request.input.signal);
    return this.#report(request, { written, cut, tokensAfter });
  }

  /** Reports a compaction. The next request emits that, with what earlier ones have spent that no request has emitted. */
  #report(request: CompactionRequest, outcome: CompactionOutcome): CompactionReport {
    const report = createReport(request, outcome);
    if (request.onReport) request.onReport(report);
    else this.returnReport(report);
    return report;
  }

  #chooseCut(
    { messages, input, measure, countTokens }: MeasuredRequest,
    { goal, isManual }: Pick<ShrinkOptions, "goal" | "isManual">,
  ): ChosenCut | undefined {
    const { anchor, keepSteps, pin } = this.#options;
    const { scale } = measure;
    const summaryTokens = this.#writer?.getMaxTokens(measure.window) ?? 0;
    const required = estimateContext({ ...input, messages: [] });
    const fixed = required + summaryTokens;
    // Halfway to the threshold, so that the next step does not exceed it again. After an overflow the limit is uncertain.
    const maxTokens = input.overflow ? goal : (goal + Math.min(measure.limit, measure.used)) / 2;
    return chooseCut({
      messages,
      groups: groupMessages(messages, countTokens),
      anchor,
      keepSteps,
      pin,
      targetTokens: goal / scale - fixed,
      maxTokens: maxTokens / scale - fixed,
      limitTokens: measure.limit / scale - required,
      unansweredTokens: (input.overflow || isManual ? goal : measure.limit) / scale - fixed,
      openingTokens: countTokens(OPENING_MESSAGE),
      omitted: this.#cut.find(messages),
    });
  }

  /** Returns the tokens of a request after a cut; throws when they exceed the limit. */
  #assertFits(request: CompactionRequest, cut: AppliedCut): number {
    const { after, fits } = estimateAfterCut(request, cut);
    if (!fits) throw createOverflowError(request, { anchor: this.#options.anchor, after });
    return after;
  }
}

function createOverflowError(
  { measure: { limit, window } }: MeasuredRequest,
  { anchor, after }: { readonly anchor: number; readonly after: number },
): ContextWindowOverflowError {
  const first = anchor === 1 ? "the first message" : `the first ${anchor} messages`;
  return new ContextWindowOverflowError(
    `Cannot fit the conversation into the context window: the system prompt, the tools, ` +
      `${
        anchor > 0 ? `${first}, ` : ""
      }plans and the latest step take about ${after} tokens, and ` +
      `${
        Math.round(limit)
      } of the model's ${window} may be used: shorten the latest messages, or use a model ` +
      `with a larger context window`,
  );
}
