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

/** Texts to find. With equal positions, the first one counts. */
export class Markers {
  readonly texts: readonly string[];
  /** Length of the longest one. */
  readonly maxLength: number;
  readonly #firstCharacters: ReadonlySet<string>;

  constructor(texts: readonly string[]) {
    this.texts = texts;
    this.maxLength = Math.max(0, ...texts.map((text) => text.length));
    this.#firstCharacters = new Set(texts.map((text) => text.charAt(0)));
  }

  /** Returns the first index at which one of the markers may begin; the length of the text for none. */
  findStart(text: string): number {
    let index = 0;
    while (index < text.length && !this.#firstCharacters.has(text.charAt(index))) index++;
    return index;
  }
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

  /** Returns the text up to the first marker, or else the text that cannot be the start of one. */
  scan(markers: Markers): ScannedText {
    const pending = this.#pending;
    const start = markers.findStart(pending);
    if (start === pending.length) return { text: this.end() };
    let found: { readonly index: number; readonly marker: string } | undefined;
    for (const marker of markers.texts) {
      const index = pending.indexOf(marker, start);
      if (index >= 0 && (found === undefined || index < found.index)) found = { index, marker };
    }
    if (found) {
      const { index, marker } = found;
      this.#pending = pending.slice(index + marker.length);
      return { text: pending.slice(0, index), marker };
    }
    const end = findPossibleStart(pending, start, markers);
    this.#pending = pending.slice(end);
    return { text: pending.slice(0, end) };
  }

  /** Returns the rest, whose end is known. */
  end(): string {
    const rest = this.#pending;
    this.#pending = "";
    return rest;
  }
}

/** Returns the index of the end of a text that could be the start of a marker; its length for none. */
function findPossibleStart(text: string, start: number, { texts, maxLength }: Markers): number {
  for (let index = Math.max(start, text.length - maxLength + 1); index < text.length; index++) {
    const end = text.slice(index);
    if (texts.some((marker) => marker.startsWith(end))) return index;
  }
  return text.length;
}
