/**
 * Decides when a history is cut, makes the cut, and keeps it.
 *
 * @module
 */

import type { CompactionReport, TransformInput, TransformOutput } from "../../core/context.ts";
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
  SummaryWriter,
} from "./compaction.ts";
import { countContext, estimateContext } from "./context_count.ts";
import { groupMessages, type HistoryRange } from "./message_groups.ts";
import { isPlan } from "./plan_message.ts";
import { createSummaryMessages } from "./summary_messages.ts";

/** Makes the transform of one agent; with a writer, a summary stands for what is left out. */
export function createCompactingTransform(
  options: CompactionOptions,
  writer?: SummaryWriter,
): CompactingTransform {
  const compaction = new Compactor(options, writer);
  const transform = (messages: readonly AgentMessage[], input: TransformInput) =>
    compaction.transform(messages, input);
  const methods = {
    view: (messages: readonly AgentMessage[]) => compaction.view(messages),
    compact: (
      messages: readonly AgentMessage[],
      input: TransformInput,
      options?: CompactOptions,
    ) => compaction.compact(messages, input, options),
    restore: (cut: ContextCut | undefined) => compaction.restore(cut),
  };
  return Object.defineProperties(Object.assign(transform, methods), {
    cut: { get: () => compaction.cut, enumerable: true },
    unreportedCompaction: { get: () => compaction.unreportedCompaction, enumerable: true },
  }) as CompactingTransform;
}

/** The part that stays after an overflow where the window is not known. */
const UNKNOWN_WINDOW_TARGET = 0.6;
/** No provider counts less than this for a token that is estimated. */
const MIN_SCALE = 0.5;

/** Where replies of a list that a transform made begin to tell its size. */
const firstTrustedPositions = new WeakMap<readonly AgentMessage[], number>();

/** A cut, with the messages that tell whether a history is still the one it was made for. */
interface AppliedCut extends ContextCut {
  readonly first: AgentMessage | undefined;
  readonly last: AgentMessage | undefined;
  readonly pinned: readonly AgentMessage[];
  readonly replacement: readonly AgentMessage[];
  /** How long the history was. */
  readonly historyLength: number;
}

/** How much a request takes, and how much it may. */
interface ContextUsage {
  readonly used: number;
  /** Tokens that the provider counts for each that is estimated. */
  readonly scale: number;
  readonly window: number | undefined;
  /** Tokens that may be used before a cut is made. */
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

  view(messages: readonly AgentMessage[]): ContextView {
    const cut = this.#findCut(messages);
    const known = firstTrustedPositions.get(messages) ?? 0;
    if (!cut) return { messages, firstTrusted: known };
    const { from, to, replacement: inPlace, historyLength: madeAt } = cut;
    const kept = [...messages.slice(0, from), ...inPlace, ...messages.slice(to)];
    const firstTrusted = kept.length - (messages.length - Math.max(madeAt, known));
    // A transform that this list is handed to next asks for it.
    firstTrustedPositions.set(kept, firstTrusted);
    return { messages: kept, firstTrusted };
  }

  async transform(
    messages: readonly AgentMessage[],
    input: TransformInput,
  ): Promise<TransformOutput> {
    const measure = this.#measure(messages, input);
    if (!input.overflow && measure.used <= measure.limit) return this.#createOutput(messages);
    const { target, overflowTarget } = this.#options;
    const { window = Infinity, used, limit } = measure;
    const goal = input.overflow
      ? Math.min(window * overflowTarget, used * UNKNOWN_WINDOW_TARGET)
      : Math.min(window * target, limit);
    await this.#shrink(messages, { input, measure, goal });
    return this.#createOutput(messages);
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

  /** The view, with the report of a cut that nobody has been told of yet. */
  #createOutput(messages: readonly AgentMessage[]): TransformOutput {
    const report = this.#unreported;
    this.#unreported = undefined;
    const view = this.view(messages);
    return report ? { messages: view.messages, report } : view.messages;
  }

  #measure(messages: readonly AgentMessage[], input: TransformInput): ContextUsage {
    const { contextWindow, threshold, countTokens } = this.#options;
    const view = this.view(messages);
    const request = { ...input, messages: view.messages };
    const { used, reported: told } = countContext(request, {
      firstTrusted: view.firstTrusted,
      countTokens,
    });
    const window = typeof contextWindow === "function" ? contextWindow(input.model) : contextWindow;
    const limit = window === undefined ? Infinity : window * threshold;
    if (used <= limit && !input.overflow && told > 0) return { used, scale: 1, window, limit };
    const estimate = told === 0 ? used : estimateContext(request, countTokens);
    // A request that was refused was longer than the window, whatever was counted.
    const real = input.overflow ? Math.max(used, window ?? 0) : used;
    const scale = told > 0 || input.overflow
      ? Math.max(MIN_SCALE, real / Math.max(1, estimate))
      : 1;
    return { used: real, scale, window, limit };
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
    const report = {
      ...createDropReport(messages, cut),
      tokensBefore: Math.round(measure.used),
      tokensAfter,
    };
    const { problem, usage, cost } = written ?? {};
    this.#unreported = {
      ...report,
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
      // Half way to the threshold, so that the next step does not pass it again.
      maxTokens: (goal + Math.min(measure.limit, measure.used)) / 2 / measure.scale - fixed,
      droppedUntil: this.#findCut(messages)?.to ?? 0,
    });
  }

  /** The size of a request after a cut; fails when that is still too much. */
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
    throw new ContextWindowOverflowError(
      `The conversation cannot be made to fit: what must stay (the system prompt, the tools, the first ` +
        `${this.#options.anchor} messages, plans and the newest step) takes about ${after} tokens, and ` +
        `${
          Math.round(measure.limit)
        } of the model's ${measure.window} may be used: shorten what was said ` +
        `last, or take a model with a larger window`,
    );
  }

  /** The cut, if it belongs to this history. */
  #findCut(messages: readonly AgentMessage[]): AppliedCut | undefined {
    if (this.#restored) this.#applyRestoredCut(messages, this.#restored);
    const made = this.#applied;
    if (!made) return undefined;
    const isSame = messages[made.from] === made.first && messages[made.to - 1] === made.last;
    return isSame ? made : undefined;
  }

  /** Takes up a cut that was made for this history in another life. */
  #applyRestoredCut(messages: readonly AgentMessage[], cut: ContextCut): void {
    const { from, to, summary } = cut;
    if (from < 0 || from >= to || to > messages.length) return;
    const { pin, countTokens } = this.#options;
    const pinned = groupMessages(messages, countTokens).filter((group) =>
      group.from >= from && group.to <= to && messages.slice(group.from, group.to).some(pin)
    );
    const chosen = { from, to, pinned };
    const inPlace = createSummaryMessages(messages, { cut: chosen, summary });
    this.#applied = {
      ...createCut(messages, chosen, inPlace),
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
  parts: readonly HistoryRange[],
): AgentMessage[] {
  return parts.flatMap(({ from, to }) => messages.slice(from, to));
}
