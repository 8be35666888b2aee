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
import { groupMessages, type HistoryPart } from "./message_groups.ts";
import { isPlan } from "./plan_message.ts";
import { summaryMessages } from "./summary_messages.ts";

/** Makes the transform of one agent; with a writer, a summary stands for what is left out. */
export function compactingTransform(
  options: CompactionOptions,
  writer?: SummaryWriter,
): CompactingTransform {
  const compaction = new Compaction(options, writer);
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
    untold: { get: () => compaction.untold, enumerable: true },
  }) as CompactingTransform;
}

/** The part that stays after an overflow where the window is not known. */
const WITHOUT_WINDOW = 0.6;
/** No provider counts less than this for a token that is estimated. */
const LEAST_SCALE = 0.5;

/** Where replies of a list that a transform made begin to tell its size. */
const trustedFrom = new WeakMap<readonly AgentMessage[], number>();

/** A cut, with the messages that tell whether a history is still the one it was made for. */
interface MadeCut extends ContextCut {
  readonly first: AgentMessage | undefined;
  readonly last: AgentMessage | undefined;
  readonly pinned: readonly AgentMessage[];
  readonly inPlace: readonly AgentMessage[];
  /** How long the history was. */
  readonly madeAt: number;
}

/** How much a request takes, and how much it may. */
interface Measure {
  readonly used: number;
  /** Tokens that the provider counts for each that is estimated. */
  readonly scale: number;
  readonly window: number | undefined;
  /** Tokens that may be used before a cut is made. */
  readonly limit: number;
}

class Compaction {
  readonly #options: Required<CompactionOptions>;
  readonly #writer: SummaryWriter | undefined;
  #made: MadeCut | undefined;
  #restored: ContextCut | undefined;
  #untold: CompactionReport | undefined;

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
    const cut = this.#made ?? this.#restored;
    if (!cut) return undefined;
    const { from, to, summary } = cut;
    return { from, to, ...(summary !== undefined && { summary }) };
  }

  get untold(): CompactionReport | undefined {
    return this.#untold;
  }

  restore(cut: ContextCut | undefined): void {
    this.#made = undefined;
    this.#untold = undefined;
    this.#restored = cut;
  }

  view(messages: readonly AgentMessage[]): ContextView {
    const cut = this.#cutOf(messages);
    const known = trustedFrom.get(messages) ?? 0;
    if (!cut) return { messages, firstTrusted: known };
    const { from, to, inPlace, madeAt } = cut;
    const kept = [...messages.slice(0, from), ...inPlace, ...messages.slice(to)];
    const firstTrusted = kept.length - (messages.length - Math.max(madeAt, known));
    // A transform that this list is handed to next asks for it.
    trustedFrom.set(kept, firstTrusted);
    return { messages: kept, firstTrusted };
  }

  async transform(
    messages: readonly AgentMessage[],
    input: TransformInput,
  ): Promise<TransformOutput> {
    const measure = this.#measure(messages, input);
    if (!input.overflow && measure.used <= measure.limit) return this.#told(messages);
    const { target, overflowTarget } = this.#options;
    const { window = Infinity, used, limit } = measure;
    const goal = input.overflow
      ? Math.min(window * overflowTarget, used * WITHOUT_WINDOW)
      : Math.min(window * target, limit);
    await this.#shrink(messages, { input, measure, goal });
    return this.#told(messages);
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
  #told(messages: readonly AgentMessage[]): TransformOutput {
    const report = this.#untold;
    this.#untold = undefined;
    const view = this.view(messages);
    return report ? { messages: view.messages, report } : view.messages;
  }

  #measure(messages: readonly AgentMessage[], input: TransformInput): Measure {
    const { contextWindow, threshold, countTokens } = this.#options;
    const view = this.view(messages);
    const request = { ...input, messages: view.messages };
    const { used, told } = countContext(request, { firstTrusted: view.firstTrusted, countTokens });
    const window = typeof contextWindow === "function" ? contextWindow(input.model) : contextWindow;
    const limit = window === undefined ? Infinity : window * threshold;
    if (used <= limit && !input.overflow && told > 0) return { used, scale: 1, window, limit };
    const estimate = told === 0 ? used : estimateContext(request, countTokens);
    // A request that was refused was longer than the window, whatever was counted.
    const real = input.overflow ? Math.max(used, window ?? 0) : used;
    const scale = told > 0 || input.overflow
      ? Math.max(LEAST_SCALE, real / Math.max(1, estimate))
      : 1;
    return { used: real, scale, window, limit };
  }

  async #shrink(
    messages: readonly AgentMessage[],
    { input, measure, goal, instructions }: {
      readonly input: TransformInput;
      readonly measure: Measure;
      readonly goal: number;
      readonly instructions?: string | undefined;
    },
  ): Promise<CompactionReport | undefined> {
    const chosen = this.#choose(messages, { input, measure, goal });
    if (!chosen) return undefined;
    const before = this.#cutOf(messages);
    this.#mustFit(messages, { input, measure, cut: madeCut(messages, chosen) });
    const pinned = new Set(messagesOf(messages, chosen.pinned));
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
    const cut = madeCut(messages, chosen, summaryMessages(messages, { chosen, summary, input }));
    const tokensAfter = this.#mustFit(messages, { input, measure, cut });
    this.#made = summary === undefined ? cut : { ...cut, summary };
    this.#restored = undefined;
    const report = {
      ...reportOf(messages, cut),
      tokensBefore: Math.round(measure.used),
      tokensAfter,
    };
    const { problem, usage, cost } = written ?? {};
    this.#untold = {
      ...report,
      ...(summary !== undefined && { summary }),
      ...(problem !== undefined && { problem }),
      ...(usage !== undefined && { usage }),
      ...(cost !== undefined && { cost }),
    };
    return this.#untold;
  }

  #choose(
    messages: readonly AgentMessage[],
    { input, measure, goal }: {
      readonly input: TransformInput;
      readonly measure: Measure;
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
      goal: goal / measure.scale - fixed,
      // Half way to the threshold, so that the next step does not pass it again.
      most: (goal + Math.min(measure.limit, measure.used)) / 2 / measure.scale - fixed,
      leftOutTo: this.#cutOf(messages)?.to ?? 0,
    });
  }

  /** The size of a request after a cut; fails when that is still too much. */
  #mustFit(
    messages: readonly AgentMessage[],
    { input, measure, cut }: {
      readonly input: TransformInput;
      readonly measure: Measure;
      readonly cut: MadeCut;
    },
  ): number {
    const kept = [...messages.slice(0, cut.from), ...cut.inPlace, ...messages.slice(cut.to)];
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
  #cutOf(messages: readonly AgentMessage[]): MadeCut | undefined {
    if (this.#restored) this.#adopt(messages, this.#restored);
    const made = this.#made;
    if (!made) return undefined;
    const isSame = messages[made.from] === made.first && messages[made.to - 1] === made.last;
    return isSame ? made : undefined;
  }

  /** Takes up a cut that was made for this history in another life. */
  #adopt(messages: readonly AgentMessage[], cut: ContextCut): void {
    const { from, to, summary } = cut;
    if (from < 0 || from >= to || to > messages.length) return;
    const { pin, countTokens } = this.#options;
    const pinned = groupMessages(messages, countTokens).filter((group) =>
      group.from >= from && group.to <= to && messages.slice(group.from, group.to).some(pin)
    );
    const chosen = { from, to, pinned };
    const inPlace = summaryMessages(messages, { chosen, summary });
    this.#made = {
      ...madeCut(messages, chosen, inPlace),
      ...(summary !== undefined && { summary }),
    };
    this.#restored = undefined;
  }
}

function madeCut(
  messages: readonly AgentMessage[],
  { from, to, pinned }: ChosenCut,
  summary: readonly AgentMessage[] = [],
): MadeCut {
  const kept = messagesOf(messages, pinned);
  return {
    from,
    to,
    first: messages[from],
    last: messages[to - 1],
    pinned: kept,
    inPlace: [...summary, ...kept],
    madeAt: messages.length,
  };
}

function reportOf(
  messages: readonly AgentMessage[],
  { from, to, pinned }: MadeCut,
): Pick<CompactionReport, "droppedCount" | "droppedMessages"> {
  const kept = new Set(pinned);
  const dropped = messages.slice(from, to).filter((message) => !kept.has(message));
  const droppedMessages = dropped.filter((message): message is LlmMessage =>
    message.role !== "custom"
  );
  return { droppedCount: dropped.length, droppedMessages };
}

function messagesOf(
  messages: readonly AgentMessage[],
  parts: readonly HistoryPart[],
): AgentMessage[] {
  return parts.flatMap(({ from, to }) => messages.slice(from, to));
}
