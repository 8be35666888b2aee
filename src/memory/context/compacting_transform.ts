/**
 * Decides when to cut a history, makes the cut, and applies it to every request.
 *
 * @module
 */

import type { TransformInput, TransformOutput } from "../../core/context.ts";
import type { CompactionReport } from "../../core/compaction_report.ts";
import { AbortedError, ContextWindowOverflowError } from "../../core/errors.ts";
import type { AgentMessage, LlmMessage } from "../../core/message.ts";
import { estimateTokens } from "../../core/tokens.ts";
import { chooseCut, type ChosenCut } from "./choose_cut.ts";
import type {
  CompactingTransform,
  CompactionOptions,
  CompactOptions,
  ContextCut,
  ContextView,
  ReportingTransform,
  SummaryWriter,
} from "./compaction.ts";
import { countContext, estimateContext } from "./context_count.ts";
import { groupMessages, type HistoryRange } from "./message_groups.ts";
import { isPlan } from "./plan_message.ts";
import { createSummaryMessages } from "./summary_messages.ts";

/** Creates the transform of one agent. With a writer, a summary replaces the omitted messages. */
export function createCompactingTransform(
  options: CompactionOptions,
  writer?: SummaryWriter,
): CompactingTransform {
  const compactor = new Compactor(options, writer);
  const transform = (messages: readonly AgentMessage[], input: TransformInput) =>
    compactor.transform(messages, input);
  const methods: Pick<CompactingTransform, "view" | "compact" | "restore"> = {
    view: (messages, firstTrusted) => compactor.view(messages, firstTrusted),
    compact: (messages, input, options) => compactor.compact(messages, input, options),
    restore: (cut) => compactor.restore(cut),
  };
  return Object.defineProperties(Object.assign(transform, methods), {
    cut: { get: () => compactor.cut, enumerable: true },
    unreportedCompaction: { get: () => compactor.unreportedCompaction },
  }) as ReportingTransform;
}

/** Returns the report of a cut that no request has reported yet, for transforms created by this module. */
export function getUnreportedCompaction(
  transform: CompactingTransform,
): CompactionReport | undefined {
  return (transform as Partial<ReportingTransform>).unreportedCompaction;
}

/** Fraction of the tokens that is kept after an overflow when the window is unknown. */
const UNKNOWN_WINDOW_TARGET = 0.6;
/** Lower limit of the tokens that a provider counts per estimated token. */
const MIN_SCALE = 0.5;

/** A cut, with the messages that identify the history it was made for. */
interface AppliedCut extends ContextCut {
  readonly first: AgentMessage | undefined;
  readonly last: AgentMessage | undefined;
  readonly pinned: readonly AgentMessage[];
  readonly replacement: readonly AgentMessage[];
  /** Length of the history when the cut was made. */
  readonly historyLength: number;
}

/** The size of a request and its limit. */
interface ContextUsage {
  readonly used: number;
  /** Tokens that the provider counts per estimated token. */
  readonly scale: number;
  readonly window: number | undefined;
  /** Tokens above which a cut is made. */
  readonly limit: number;
}

class Compactor {
  readonly #options: Required<CompactionOptions>;
  readonly #writer: SummaryWriter | undefined;
  #applied: AppliedCut | undefined;
  #restored: ContextCut | undefined;
  #unreported: CompactionReport | undefined;

  constructor(options: CompactionOptions, writer: SummaryWriter | undefined) {
    this.#options = {
      threshold: 0.85,
      target: 0.5,
      overflowTarget: 0.35,
      anchor: 1,
      keepSteps: 4,
      pin: isPlan,
      countTokens: estimateTokens,
      ...options,
    };
    this.#writer = writer;
  }

  get cut(): ContextCut | undefined {
    const cut = this.#applied ?? this.#restored;
    if (!cut) return undefined;
    const { from, to, summary } = cut;
    return { from, to, ...(summary !== undefined && { summary }) };
  }

  get unreportedCompaction(): CompactionReport | undefined {
    return this.#unreported;
  }

  restore(cut: ContextCut | undefined): void {
    this.#applied = undefined;
    this.#unreported = undefined;
    this.#restored = cut;
  }

  view(messages: readonly AgentMessage[], firstTrusted = 0): ContextView {
    const cut = this.#findCut(messages);
    if (!cut) return { messages, firstTrusted };
    const { from, to, replacement, historyLength } = cut;
    const kept = [...messages.slice(0, from), ...replacement, ...messages.slice(to)];
    const untrusted = Math.max(historyLength, firstTrusted);
    return { messages: kept, firstTrusted: kept.length - (messages.length - untrusted) };
  }

  async transform(
    messages: readonly AgentMessage[],
    input: TransformInput,
  ): Promise<TransformOutput> {
    const measure = this.#measure(messages, input);
    if (!input.overflow && measure.used <= measure.limit) {
      return this.#createOutput(messages, input);
    }
    const { target, overflowTarget } = this.#options;
    const { window = Infinity, used, limit } = measure;
    const goal = input.overflow
      ? Math.min(window * overflowTarget, used * UNKNOWN_WINDOW_TARGET)
      : Math.min(window * target, limit);
    await this.#shrink(messages, { input, measure, goal });
    return this.#createOutput(messages, input);
  }

  async compact(
    messages: readonly AgentMessage[],
    input: TransformInput,
    { instructions }: CompactOptions = {},
  ): Promise<CompactionReport | null> {
    const measure = this.#measure(messages, input);
    const { target } = this.#options;
    const goal = Math.min((measure.window ?? measure.used) * target, measure.limit);
    if (measure.used <= goal) return null;
    return await this.#shrink(messages, { input, measure, goal, instructions }) ?? null;
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
    const { contextWindow, threshold, countTokens } = this.#options;
    const { messages: kept, firstTrusted } = this.view(messages, input.firstTrusted);
    const request = { ...input, messages: kept };
    const { used, reported } = countContext(request, { firstTrusted, countTokens });
    const window = typeof contextWindow === "function" ? contextWindow(input.model) : contextWindow;
    const limit = window === undefined ? Infinity : window * threshold;
    if (used <= limit && !input.overflow && reported > 0) return { used, scale: 1, window, limit };
    const estimate = reported === 0 ? used : estimateContext(request, countTokens);
    // A rejected request was longer than the window, whatever was counted.
    const actual = input.overflow ? Math.max(used, window ?? 0) : used;
    const scale = reported > 0 || input.overflow
      ? Math.max(MIN_SCALE, actual / Math.max(1, estimate))
      : 1;
    return { used: actual, scale, window, limit };
  }

  async #shrink(
    messages: readonly AgentMessage[],
    { input, measure, goal, instructions }: {
      readonly input: TransformInput;
      readonly measure: ContextUsage;
      readonly goal: number;
      readonly instructions?: string | undefined;
    },
  ): Promise<CompactionReport | undefined> {
    const chosen = this.#chooseCut(messages, { input, measure, goal });
    if (!chosen) return undefined;
    const before = this.#findCut(messages);
    this.#assertFits(messages, { input, measure, cut: createCut(messages, chosen) });
    const pinned = new Set(collectMessages(messages, chosen.pinned));
    const written = await this.#writer?.write({
      messages: messages.slice(before?.to ?? chosen.from, chosen.to)
        .filter((message) => !pinned.has(message)),
      previous: before?.summary,
      instructions,
      contextWindow: measure.window,
      input,
    });
    if (input.signal.aborted) throw new AbortedError(undefined, { cause: input.signal.reason });
    const summary = written?.summary ?? before?.summary;
    const cut = createCut(
      messages,
      chosen,
      createSummaryMessages(messages, { cut: chosen, summary, input }),
    );
    const tokensAfter = this.#assertFits(messages, { input, measure, cut });
    this.#applied = summary === undefined ? cut : { ...cut, summary };
    this.#restored = undefined;
    const { problem, usage, cost } = written ?? {};
    this.#unreported = {
      ...createDropReport(messages, cut),
      tokensBefore: Math.round(measure.used),
      tokensAfter,
      ...(summary !== undefined && { summary }),
      ...(problem !== undefined && { problem }),
      ...(usage !== undefined && { usage }),
      ...(cost !== undefined && { cost }),
    };
    return this.#unreported;
  }

  #chooseCut(
    messages: readonly AgentMessage[],
    { input, measure, goal }: {
      readonly input: TransformInput;
      readonly measure: ContextUsage;
      readonly goal: number;
    },
  ): ChosenCut | undefined {
    const { anchor, keepSteps, pin, countTokens } = this.#options;
    const fixed = estimateContext({ ...input, messages: [] }) + (this.#writer?.maxTokens ?? 0);
    return chooseCut({
      messages,
      groups: groupMessages(messages, countTokens),
      anchor,
      keepSteps,
      pin,
      targetTokens: goal / measure.scale - fixed,
      // Halfway to the threshold, so that the next step does not exceed it again.
      maxTokens: (goal + Math.min(measure.limit, measure.used)) / 2 / measure.scale - fixed,
      droppedUntil: this.#findCut(messages)?.to ?? 0,
    });
  }

  /** Returns the tokens of a request after a cut; throws when they exceed the limit. */
  #assertFits(
    messages: readonly AgentMessage[],
    { input, measure, cut }: {
      readonly input: TransformInput;
      readonly measure: ContextUsage;
      readonly cut: AppliedCut;
    },
  ): number {
    const kept = [...messages.slice(0, cut.from), ...cut.replacement, ...messages.slice(cut.to)];
    const request = { ...input, messages: kept };
    const after = Math.round(estimateContext(request, this.#options.countTokens) * measure.scale);
    if (after <= measure.limit) return after;
    const limit = Math.round(measure.limit);
    throw new ContextWindowOverflowError(
      `Cannot fit the conversation into the context window: the system prompt, the tools, the first ` +
        `${this.#options.anchor} messages, plans and the latest step take about ${after} tokens, and ${limit} ` +
        `of the model's ${measure.window} may be used: shorten the latest messages, or use a model with a ` +
        `larger context window`,
    );
  }

  /** Returns the cut if it was made for this history. */
  #findCut(messages: readonly AgentMessage[]): AppliedCut | undefined {
    if (this.#restored) this.#applyRestoredCut(messages, this.#restored);
    const cut = this.#applied;
    if (!cut) return undefined;
    const isSame = messages[cut.from] === cut.first && messages[cut.to - 1] === cut.last;
    return isSame ? cut : undefined;
  }

  /** Applies a cut that an earlier process made for this history. */
  #applyRestoredCut(messages: readonly AgentMessage[], cut: ContextCut): void {
    const { from, to, summary } = cut;
    if (from < 0 || from >= to || to > messages.length) return;
    const { pin, countTokens } = this.#options;
    const pinned = groupMessages(messages, countTokens).filter((group) =>
      group.from >= from && group.to <= to && messages.slice(group.from, group.to).some(pin)
    );
    const chosen = { from, to, pinned };
    const replacement = createSummaryMessages(messages, { cut: chosen, summary });
    this.#applied = {
      ...createCut(messages, chosen, replacement),
      ...(summary !== undefined && { summary }),
    };
    this.#restored = undefined;
  }
}

function createCut(
  messages: readonly AgentMessage[],
  { from, to, pinned }: ChosenCut,
  summary: readonly AgentMessage[] = [],
): AppliedCut {
  const kept = collectMessages(messages, pinned);
  return {
    from,
    to,
    first: messages[from],
    last: messages[to - 1],
    pinned: kept,
    replacement: [...summary, ...kept],
    historyLength: messages.length,
  };
}

function createDropReport(
  messages: readonly AgentMessage[],
  { from, to, pinned }: AppliedCut,
): Pick<CompactionReport, "droppedCount" | "droppedMessages"> {
  const kept = new Set(pinned);
  const dropped = messages.slice(from, to).filter((message) => !kept.has(message));
  const droppedMessages = dropped.filter((message): message is LlmMessage =>
    message.role !== "custom"
  );
  return { droppedCount: dropped.length, droppedMessages };
}

function collectMessages(
  messages: readonly AgentMessage[],
  ranges: readonly HistoryRange[],
): AgentMessage[] {
  return ranges.flatMap(({ from, to }) => messages.slice(from, to));
}
