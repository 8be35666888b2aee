/**
 * OpenRouter's `reasoning_details`, which some models require in later requests.
 *
 * @module
 */

import type { WireReasoningDetail } from "./wire.ts";

/** Assembles the details of one reply from the pieces of its chunks. */
export class ReasoningDetails {
  readonly #details: Record<string, unknown>[] = [];

  /** Adds the pieces of a chunk. */
  append(pieces: readonly WireReasoningDetail[]): void {
    for (const piece of pieces) this.#merge(piece);
  }

  /** Returns the details to send back: all of them if any is encrypted or signed, else none. */
  getReplayDetails(): readonly WireReasoningDetail[] {
    const isProtected = this.#details.some(({ data, signature }) => data || signature);
    return isProtected ? this.#details : [];
  }

  /** Merges a piece into the last detail if it continues it, else appends it. */
  #merge(piece: WireReasoningDetail): void {
    const last = this.#details.at(-1);
    if (last === undefined || !isSameDetail(last, piece)) {
      this.#details.push({ ...piece });
      return;
    }
    for (const [key, value] of Object.entries(piece)) {
      const previous = last[key];
      const isText = key === "text" || key === "summary" || key === "data";
      if (isText && typeof previous === "string" && typeof value === "string") {
        last[key] = previous + value;
      } else if (value !== null) last[key] = value;
    }
  }
}

/** Whether a piece continues a detail. Later pieces may lack the id; those of a text may each have their own. */
function isSameDetail(detail: WireReasoningDetail, piece: WireReasoningDetail): boolean {
  const { type, index, id } = detail;
  const hasOtherId = type === "reasoning.encrypted" && Boolean(id && piece["id"]) &&
    id !== piece["id"];
  return type === piece.type && index === piece["index"] && !hasOtherId;
}
