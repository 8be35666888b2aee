/**
 * Splits a text that arrives in parts into lines.
 *
 * @module
 */

/** Collects the parts of a line until its end, in linear time for lines of any length. */
export class LineSplitter {
  #parts: string[] = [];
  #length = 0;

  /** Length of the line that has no end yet, in characters. */
  get pendingLength(): number {
    return this.#length;
  }

  /** Adds a part and returns the lines that it completes, without their line breaks. */
  push(text: string): string[] {
    const [first = "", ...others] = text.split("\n");
    this.#append(first);
    const last = others.pop();
    if (last === undefined) return [];
    const lines = [this.#takeLine(), ...others];
    this.#append(last);
    return lines;
  }

  /** Whether the line that has no end yet begins with a text. */
  startsWith(prefix: string): boolean {
    return this.#parts.join("").startsWith(prefix);
  }

  #append(text: string): void {
    this.#parts.push(text);
    this.#length += text.length;
  }

  #takeLine(): string {
    const line = this.#parts.join("");
    this.#parts = [];
    this.#length = 0;
    return line;
  }
}
