/**
 * The cut of a conversation, which every request has until the next one is made.
 *
 * @module
 */

import type { AgentMessage } from "../../core/messages/message.ts";
import {
  type AppliedCut,
  type CutReference,
  isCutIn,
  parseContextCut,
  relocateCut,
  type RelocateOptions,
  toContextCut,
  toReference,
  updatePinned,
} from "./applied_cut.ts";
import type { ContextCut, ContextView, CutMessages } from "./compaction.ts";
import { applyCut } from "./measured_request.ts";

/** A cut of another process that was not found in a history yet. */
interface RestoredCut {
  readonly reference: CutReference;
  readonly cut?: ContextCut;
}

/** Holds the cut, and finds it in each history. */
export class CurrentCut {
  readonly #options: RelocateOptions;
  #applied: AppliedCut | undefined;
  #restored: RestoredCut | undefined;
  /** The latest history that had the cut. */
  #history: readonly AgentMessage[] = [];
  #full: AppliedCut | undefined;
  #isMissing = false;

  constructor(options: RelocateOptions) {
    this.#options = options;
  }

  /** The cut as a JSON value. */
  get value(): ContextCut | undefined {
    return this.#applied ? toContextCut(this.#applied) : this.#restored?.cut;
  }

  /** The cut with its messages, once it was found in a history. */
  get messages(): CutMessages | undefined {
    return this.#applied;
  }

  /** Replaces the cut by one of a history that requests have from now on. */
  apply(cut: AppliedCut, messages: readonly AgentMessage[]): void {
    this.#applied = cut;
    this.#history = messages;
    this.#restored = undefined;
  }

  /** Replaces the cut by a stored one, or by none. */
  restore(cut: ContextCut | undefined): void {
    this.#applied = undefined;
    this.#restored = cut && { reference: parseContextCut(cut), cut };
  }

  /** Replaces the cut by one with these messages, or by none. */
  restoreMessages(cut: CutMessages | undefined): void {
    this.#applied = undefined;
    this.#restored = cut && { reference: toReference(cut) };
  }

  /** Whether the history before had the cut, and this one does not have it any longer. */
  isLost(messages: readonly AgentMessage[]): boolean {
    const wasFound = !this.#isMissing;
    const hasCut = (this.#applied ?? this.#restored) !== undefined;
    this.#isMissing = hasCut && !this.find(messages);
    return wasFound && this.#isMissing;
  }

  /** Records that the complete summary of a cut does not fit, so that only the next cut writes another one. */
  markFull(cut: AppliedCut): void {
    this.#full = cut;
  }

  /** Whether the complete summary of a cut does not fit. */
  isFull(cut: AppliedCut): boolean {
    return this.#full === cut;
  }

  /** Returns the messages of a history that requests have. */
  view(messages: readonly AgentMessage[], firstTrusted = 0): ContextView {
    const cut = this.find(messages);
    if (!cut) return { messages, firstTrusted };
    const kept = applyCut(messages, cut);
    const untrusted = Math.max(cut.length, firstTrusted);
    return { messages: kept, firstTrusted: kept.length - (messages.length - untrusted) };
  }

  /** Returns the cut as positions in these messages, if it was made for them or is found in them. */
  find(messages: readonly AgentMessage[]): AppliedCut | undefined {
    const cut = this.#applied;
    const found = cut && isCutIn(messages, cut)
      ? updatePinned(messages, cut)
      : this.#relocate(messages);
    if (!found) return undefined;
    if (cut && found !== cut && this.isFull(cut)) this.markFull(found);
    this.apply(found, messages);
    return found;
  }

  #relocate(messages: readonly AgentMessage[]): AppliedCut | undefined {
    const cut = this.#applied;
    const reference = cut
      ? { ...toReference(cut), later: this.#history.slice(cut.to) }
      : this.#restored?.reference;
    return reference && relocateCut(messages, reference, this.#options);
  }
}
