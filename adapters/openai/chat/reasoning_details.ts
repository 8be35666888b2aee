/**
 * OpenRouter's `reasoning_details`: what `reasoning` says, in pieces that a model may need back.
 *
 * @module
 */

import type { WireReasoningDetail } from "./wire.ts";

/** Puts the pieces of one reply together. */
export class ReasoningDetails {
  readonly #details: Record<string, unknown>[] = [];

  /** Reads pieces. */
  append(pieces: readonly WireReasoningDetail[]): void {
    for (const piece of pieces) this.#merge(piece);
  }

  /** What has to be sent back: all of it, if any part is encrypted or signed. */
  getReplayDetails(): readonly WireReasoningDetail[] {
    const isBound = this.#details.some(({ data, signature }) => data || signature);
    return isBound ? this.#details : [];
  }

  /** Pieces of one kind that follow each other under one index are one detail. */
  #merge(piece: WireReasoningDetail): void {
    const last = this.#details.at(-1);
    if (last === undefined || last["type"] !== piece.type || last["index"] !== piece["index"]) {
      this.#details.push({ ...piece });
      return;
    }
    for (const [key, value] of Object.entries(piece)) {
      const before = last[key];
      const grows = key === "text" || key === "summary" || key === "data";
      if (grows && typeof before === "string" && typeof value === "string") {
        last[key] = before + value;
      } else if (value !== null) last[key] = value;
    }
  }
}
