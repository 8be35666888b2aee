/**
 * Decides when to cut a history, makes the cut, and applies it to every request.
 *
 * @module
 */

import type { TransformInput, TransformOutput } from "../../core/context/context.ts";
import { registerTransformCopies } from "../../core/context/copy_transform.ts";
import { AbortedError, ContextWindowOverflowError } from "../../core/errors/errors.ts";
import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { estimateTokens } from "../../core/streams/tokens.ts";
import {
  type AppliedCut,
  createCut,
  type CutReference,
  isCutIn,
  parseContextCut,
  relocateCut,
  toChosenCut,
  toContextCut,
  toReference,
} from "./applied_cut.ts";
import { refuseAsync } from "./check_compaction.ts";
import { chooseCut, type ChosenCut } from "./choose_cut.ts";
import type {
  CompactingTransform,
  CompactionOptions,
  ContextCut,
  ContextView,
  CutMessages,
  ReportingTransform,
  SummaryRequest,
  SummaryResult,
  SummaryWriter,
} from "./compaction.ts";
import {
  countContext,
  createTokenCounter,
  estimateContext,
  estimateMedia,
} from "./context_count.ts";
import { EditedHistory } from "./edited_history.ts";
import {
  applyCut,
  type ContextUsage,
  type CutEstimate,
  estimateAfterCut,
  isShorter,
  type MeasuredRequest,
} from "./measured_request.ts";
import { type CountTokens, groupMessages } from "./message_groups.ts";
import { createDropReport, listOmitted, listSummarized } from "./omitted_messages.ts";
import { isPlan } from "./plan_message.ts";
import { RejectedRequest } from "./rejected_request.ts";
import { addSpent, omitSpending, toSpendingReport } from "./report_spending.ts";
import { SummaryBackoff } from "./summary_backoff.ts";
import { OPENING_MESSAGE } from "./summary_messages.ts";
import { omitSummary, toAborted } from "./unused_summary.ts";

/** Creates the transform of one agent. With a writer, a summary replaces the omitted messages. */
export function createCompactingTransform(
  options: CompactionOptions,
  writer?: SummaryWriter,
): CompactingTransform {
  const compactor = new Compactor(options, writer);
  const transform = (messages: readonly AgentMessage[], input: TransformInput) =>
    compactor.transform(messages, input);
  const methods: Pick<
    ReportingTransform,
    "view" | "compact" | "restore" | "restoreMessages" | "restoreHistory" | "returnReport"
  > = {
    view: (messages, firstTrusted) => compactor.view(messages, firstTrusted),
    compact: (messages, input, options) => compactor.compact(messages, input, options),
    restore: (cut) => compactor.restore(cut && parseContextCut(cut), cut),
    restoreMessages: (cut) => compactor.restore(cut && toReference(cut)),
    restoreHistory: (messages) => compactor.restoreHistory(messages),
    returnReport: (report) => compactor.returnReport(report),
  };
  const create = () => createCompactingTransform(options, writer);
  registerTransformCopies(transform, { create, createCompaction: create });
  return Object.defineProperties(Object.assign(transform, methods), {
    cut: { get: () => compactor.cut, enumerable: true },
    cutMessages: { get: () => compactor.cutMessages },
    writesSummaries: { value: writer !== undefined },
    onCompact: {
      get: () => compactor.onCompact,
      set: (listener: ReportingTransform["onCompact"]) => {
        compactor.onCompact = listener;
      },
    },
  }) as ReportingTransform;
}

/** Whether a transform was created by this module. */
export function isReportingTransform(transform: unknown): transform is ReportingTransform {
  return typeof transform === "function" && "restoreMessages" in transform;
}

/** Lower limit of the tokens that a provider counts per estimated token. */
const MIN_SCALE = 0.5;

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

class Compactor {
  readonly #options: ResolvedOptions;
  readonly #writer: SummaryWriter | undefined;
  readonly #backoff: SummaryBackoff;
  readonly #hasOwnCount: boolean;
  /** Called with the report of each manual compaction. */
  onCompact: ReportingTransform["onCompact"];
  #applied: AppliedCut | undefined;
  /** A cut of another process that was not found in a history yet. */
  #restored: { readonly reference: CutReference; readonly cut: ContextCut | undefined } | undefined;
  #unreported: CompactionReport | undefined;
  readonly #rejected = new RejectedRequest();
  readonly #edited = new EditedHistory();
  /** A cut whose complete summary does not fit, so that only the next cut writes another one. */
  #full: AppliedCut | undefined;

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
    this.#writer = writer;
    this.#backoff = new SummaryBackoff(writer?.now);
  }

  get cut(): ContextCut | undefined {
    return this.#applied ? toContextCut(this.#applied) : this.#restored?.cut;
  }

  get cutMessages(): CutMessages | undefined {
    return this.#applied;
  }

  restore(reference: CutReference | undefined, cut?: ContextCut): void {
    this.#applied = undefined;
    this.#unreported = this.#unreported && toSpendingReport(this.#unreported);
    this.#restored = reference && { reference, cut };
  }

  restoreHistory(messages: readonly AgentMessage[]): void {
    this.#edited.restore(messages);
    this.view(messages);
  }

  returnReport(report: CompactionReport): void {
    this.#unreported = addSpent(report, this.#unreported);
  }

  view(messages: readonly AgentMessage[], firstTrusted = 0): ContextView {
    const cut = this.#findCut(messages);
    if (!cut) return { messages, firstTrusted };
    const kept = applyCut(messages, cut);
    const untrusted = Math.max(cut.length, firstTrusted);
    return { messages: kept, firstTrusted: kept.length - (messages.length - untrusted) };
  }

  async transform(
    messages: readonly AgentMessage[],
    { overflow, ...others }: TransformInput,
  ): Promise<TransformOutput> {
    const isLatest = this.#rejected.hasCut(others.signal);
    const input = { ...others, overflow: overflow && isLatest };
    try {
      await this.#fit({ messages, input, measure: this.#measure(messages, input) });
    } catch (error) {
      // An aborted run sends nothing, and counts what the summary has spent.
      if (!input.signal.aborted || !this.#unreported) throw error;
    }
    return this.#createOutput(messages, input);
  }

  /** Makes a cut if the request is too long, and else completes the summary of the current one. */
  async #fit(request: MeasuredRequest): Promise<void> {
    const { input, measure: { window = Infinity, used, limit } } = request;
    const { target, overflowTarget } = this.#options;
    if (!input.overflow && used <= limit) return await this.#completeSummary(request);
    const goal = input.overflow ? window * overflowTarget : Math.min(window * target, limit);
    await this.#shrink(request, { goal });
  }

  async compact(
    messages: readonly AgentMessage[],
    input: TransformInput,
    { instructions, tokens = Infinity, countSpending }: Parameters<
      ReportingTransform["compact"]
    >[2] = {},
  ): Promise<CompactionReport | null> {
    const measure = this.#measure(messages, input);
    const { target } = this.#options;
    const goal = Math.min((measure.window ?? measure.used) * target, measure.limit, tokens);
    if (measure.used <= goal) return null;
    let made: CompactionReport | undefined; // Also what one that is aborted has spent.
    const onReport = (report: CompactionReport) => void (made = report);
    const request = { messages, input, measure, onReport };
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

  #measure(messages: readonly AgentMessage[], input: TransformInput): ContextUsage {
    const { contextWindow, threshold } = this.#options;
    const countTokens = this.#getCounter(input);
    const edited = this.#edited.getFirstTrusted(messages, countTokens);
    const trusted = Math.max(input.firstTrusted ?? 0, edited);
    const { messages: kept, firstTrusted } = this.view(messages, trusted);
    const request = { ...input, messages: kept };
    const { used, reported } = countContext(request, { firstTrusted, countTokens });
    const known = typeof contextWindow === "function" ? contextWindow(input.model) : contextWindow;
    const limit = known === undefined ? Infinity : known * threshold;
    // A rejected request was longer than the window, whatever was counted.
    const actual = input.overflow
      ? Math.max(used, known ?? 0)
      : used - this.#getUncounted(kept, { reported, limit });
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

  /** Returns the estimate of media that exceeds the limit, though the provider has replied without counting it. */
  #getUncounted(
    messages: readonly AgentMessage[],
    { reported, limit }: { readonly reported: number; readonly limit: number },
  ): number {
    if (reported > 0 || this.#hasOwnCount) return 0;
    const answered = messages.findLastIndex(({ role }) => role === "assistant");
    const media = estimateMedia(messages.slice(0, Math.max(0, answered)));
    return media > limit ? media : 0;
  }

  /** Makes a cut, with a summary if there is a writer; returns its report, `undefined` if there is nothing to omit. */
  async #shrink(
    request: MeasuredRequest,
    { goal, instructions, isManual = false }: ShrinkOptions,
  ): Promise<CompactionReport | undefined> {
    const { messages, input, measure } = request;
    const chosen = this.#chooseCut(request, goal);
    const unsummarized = chosen && createCut(messages, chosen);
    if (!chosen || !unsummarized) return this.#dropSummary(request);
    const before = this.#findCut(messages);
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
    const fits = complete && this.#fits(request, complete);
    const sent = this.view(messages).messages;
    const replaces = complete &&
      isShorter(messages, complete, { sent, countTokens: this.#getCounter(input) });
    if (fits && replaces) return this.#apply(request, { cut: complete, written });
    if (complete && !fits && canWait) this.#backoff.update(false);
    if (written && canWait) return this.#report(request, { written: omitSummary(written, fits) });
    return this.#applyWithoutSummary(request, { chosen, written, previous: before?.summary });
  }

  /** Applies a cut whose summary was not written, or does not fit; it keeps the previous summary if that fits. */
  #applyWithoutSummary(
    request: MeasuredRequest,
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
    const cut = kept && this.#fits(request, kept)
      ? kept
      : createCut(messages, chosen, { isIncomplete: isIncomplete && !isTooLong });
    if (!cut) return undefined;
    if (isTooLong) this.#full = cut;
    return this.#apply(request, { cut, written: written && omitSummary(written) });
  }

  /** Omits the summary from a rejected request of which nothing else can be omitted. */
  #dropSummary(request: MeasuredRequest): CompactionReport | undefined {
    const { messages, input } = request;
    const before = this.#findCut(messages);
    if (!input.overflow || before?.summary === undefined) return undefined;
    const cut = createCut(messages, toChosenCut(before));
    if (!cut) return undefined;
    this.#full = cut;
    return this.#apply(request, { cut, written: omitSummary({ summary: before.summary }) });
  }

  /** Writes the summary of a cut that was made without one, unless an attempt has failed shortly before. */
  async #completeSummary(request: MeasuredRequest): Promise<void> {
    const { messages } = request;
    const cut = this.#findCut(messages);
    if (!cut?.isIncomplete || cut === this.#full || !this.#writer || this.#backoff.isActive) return;
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
    if (this.#fits(request, complete)) return void this.#apply(request, { cut: complete, written });
    this.#full = cut;
    // The current cut fits by the count of the provider, which may be far below an estimate.
    const tokensAfter = Math.round(request.measure.used);
    this.#apply(request, { cut, written: omitSummary(written), tokensAfter });
  }

  /** Writes a summary, if there is a writer. Rejects if the run is aborted; what that has spent is reported. */
  async #writeSummary(
    request: MeasuredRequest,
    part: Pick<SummaryRequest, "messages" | "previous" | "instructions">,
  ): Promise<SummaryResult | undefined> {
    const { input, measure } = request;
    const { signal } = input;
    const written = await this.#writer?.write({ ...part, input, contextWindow: measure.window });
    if (signal.aborted) {
      if (written?.usage) this.#report(request, { written: toAborted(written) });
      throw new AbortedError(undefined, { cause: signal.reason });
    }
    if (written && !written.isRefused) this.#backoff.update(written.summary !== undefined);
    return written;
  }

  /** Applies a cut, whose tokens are estimated by default; throws when they exceed the limit. */
  #apply(
    request: MeasuredRequest,
    { cut, written, tokensAfter = this.#assertFits(request, cut) }: {
      readonly cut: AppliedCut;
      readonly written: SummaryResult | undefined;
      readonly tokensAfter?: number;
    },
  ): CompactionReport {
    this.#restored = undefined;
    this.#applied = cut;
    this.#rejected.addCut(request.input.signal);
    return this.#report(request, { written, cut, tokensAfter });
  }

  /**
   * Creates the report of a cut, or of a summary that failed. The next request emits it, with what earlier ones have spent
   * that no request has emitted.
   */
  #report(
    { messages, measure, onReport }: MeasuredRequest,
    { written, cut, tokensAfter }: {
      readonly written: SummaryResult | undefined;
      readonly cut?: AppliedCut;
      readonly tokensAfter?: number;
    },
  ): CompactionReport {
    const tokensBefore = Math.round(measure.used);
    const { problem, usage, cost } = written ?? {};
    const report = {
      ...(cut ? createDropReport(messages, cut) : { droppedCount: 0 }),
      tokensBefore,
      tokensAfter: tokensAfter ?? tokensBefore,
      ...(cut?.summary !== undefined && { summary: cut.summary }),
      ...(problem !== undefined && { problem }),
      ...(usage !== undefined && { usage }),
      ...(cost !== undefined && { cost }),
    };
    if (onReport) onReport(report);
    else this.returnReport(report);
    return report;
  }

  #chooseCut(
    { messages, input, measure }: MeasuredRequest,
    goal: number,
  ): ChosenCut | undefined {
    const { anchor, keepSteps, pin } = this.#options;
    const countTokens = this.#getCounter(input);
    const { scale } = measure;
    const summaryTokens = this.#writer?.getMaxTokens(measure.window) ?? 0;
    const fixed = estimateContext({ ...input, messages: [] }) + summaryTokens;
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
      limitTokens: measure.limit / scale - fixed,
      openingTokens: countTokens(OPENING_MESSAGE),
      omitted: this.#findCut(messages),
    });
  }

  /** Returns the tokens of a request after a cut; throws when they exceed the limit. */
  #assertFits(request: MeasuredRequest, cut: AppliedCut): number {
    const { after, required } = this.#estimateAfter(request, cut);
    const { measure } = request;
    if (required <= measure.limit) return after;
    const limit = Math.round(measure.limit);
    throw new ContextWindowOverflowError(
      `Cannot fit the conversation into the context window: the system prompt, the tools, the first ` +
        `${this.#options.anchor} messages, plans and the latest step take about ${after} tokens, and ${limit} ` +
        `of the model's ${measure.window} may be used: shorten the latest messages, or use a model with a ` +
        `larger context window`,
    );
  }

  #getCounter({ convertToLlm }: TransformInput): CountTokens {
    return this.#hasOwnCount ? this.#options.countTokens : createTokenCounter(convertToLlm);
  }

  #fits(request: MeasuredRequest, cut: AppliedCut): boolean {
    return this.#estimateAfter(request, cut).required <= request.measure.limit;
  }

  #estimateAfter(request: MeasuredRequest, cut: AppliedCut): CutEstimate {
    const countTokens = this.#getCounter(request.input);
    return estimateAfterCut(request, cut, { countTokens, countsMedia: this.#hasOwnCount });
  }

  /** Returns the cut as positions in these messages, if it was made for them or is found in them. */
  #findCut(messages: readonly AgentMessage[]): AppliedCut | undefined {
    const cut = this.#applied;
    if (cut && isCutIn(messages, cut)) return cut;
    const reference = cut ? toReference(cut) : this.#restored?.reference;
    const found = reference && relocateCut(messages, reference, this.#options);
    if (!found) return undefined;
    if (cut && cut === this.#full) this.#full = found;
    this.#applied = found;
    this.#restored = undefined;
    return found;
  }
}
