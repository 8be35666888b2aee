/**
 * Finds texts such as `</think>` in a text that arrives in parts.
 *
 * @module
 */

/** Text before a marker, or up to a possible start of one. */
export interface ScannedText {
  /** The text that contains no marker. */
  readonly text: string;
  /** The marker after it, if one is complete. */
  readonly marker?: string;
}

/** Collects a text until it contains a marker. */
export class MarkerScanner {
  #pending = "";

  /** Adds a part of the text. */
  add(text: string): void {
    this.#pending += text;
  }

  /** Puts a text back that was returned last. */
  restore(text: string): void {
    this.#pending = text + this.#pending;
  }

  /** Number of characters that were not returned yet. */
  get length(): number {
    return this.#pending.length;
  }

  /**
   * Returns the text up to the first marker, or else the text that cannot be the start of one. With equal positions, the
   * first marker of the list counts.
   */
  scan(markers: readonly string[]): ScannedText {
    const pending = this.#pending;
    let found: { readonly index: number; readonly marker: string } | undefined;
    for (const marker of markers) {
      const index = pending.indexOf(marker);
      if (index >= 0 && (found === undefined || index < found.index)) found = { index, marker };
    }
    if (found) {
      const { index, marker } = found;
      this.#pending = pending.slice(index + marker.length);
      return { text: pending.slice(0, index), marker };
    }
    const kept = countPossibleStart(pending, markers);
    this.#pending = pending.slice(pending.length - kept);
    return { text: pending.slice(0, pending.length - kept) };
  }

  /** Returns the rest, whose end is known. */
  end(): string {
    const rest = this.#pending;
    this.#pending = "";
    return rest;
  }
}

/** Number of characters at the end of a text that could be the start of a marker. */
function countPossibleStart(text: string, markers: readonly string[]): number {
  const longest = Math.max(0, ...markers.map((marker) => marker.length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const end = text.slice(text.length - length);
    if (markers.some((marker) => marker.startsWith(end))) return length;
  }
  return 0;
}
