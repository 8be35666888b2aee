/**
 * Rendering of a code block while it arrives.
 *
 * @module
 */

import type { LineHighlighter } from "../highlight/highlighter.ts";
import { withStyle } from "../line/append_span.ts";
import type { Line, Span } from "../line/line.ts";
import { RowBreaker } from "../line/row_breaker.ts";
import type { BlockOptions } from "./block.ts";
import type { Fence } from "./line_start.ts";

/** Characters of a line after which it is written as it arrives, without highlighting. */
export const MAX_HIGHLIGHTED = 2_000;

/** Options for {@linkcode CodeBlock}. */
export interface CodeBlockOptions extends BlockOptions {
  /** The fence; missing for indented code. */
  readonly fence?: Fence | undefined;
}

/** Writes the lines of a code block between its fences. */
export class CodeBlock {
  readonly #options: CodeBlockOptions;
  readonly #highlighter: LineHighlighter | undefined;
  /** Writes a line that is too long to be highlighted. */
  #longLine: RowBreaker | undefined;

  constructor(options: CodeBlockOptions) {
    this.#options = options;
    const { context: { highlighter }, fence } = options;
    this.#highlighter = fence && highlighter?.start(getLanguageName(fence.label));
  }

  /** Returns the rows of the opening fence. */
  start(): Line[] {
    const { fence } = this.#options;
    return fence ? this.#formatFence(fence.marker + fence.label, 0) : [];
  }

  /** Whether a part of a long line has been written. */
  get isInLine(): boolean {
    return this.#longLine !== undefined;
  }

  /** Writes a complete line, or the rest of a long one. */
  endLine(text: string): Line[] {
    const breaker = this.#longLine ?? this.#createBreaker();
    const spans = this.#longLine ? [{ text }] : this.#highlighter?.next(text) ?? [{ text }];
    this.#longLine = undefined;
    return [...breaker.write(this.#applyStyle(spans)), ...breaker.end()];
  }

  /** Writes a part of a long line, which a call of `endLine()` ends. */
  pushLong(text: string): Line[] {
    this.#longLine ??= this.#createBreaker();
    return this.#longLine.write(this.#applyStyle([{ text }]));
  }

  /** Returns the rows of a line that is still arriving. */
  preview(text: string): Line[] {
    if (this.#longLine) return [this.#longLine.open];
    const breaker = this.#createBreaker();
    const spans = this.#highlighter?.peek(text) ?? [{ text }];
    return [...breaker.write(this.#applyStyle(spans)), ...breaker.end()];
  }

  /** Returns the rows of the closing fence, also where the source has none. */
  end(): Line[] {
    const { fence } = this.#options;
    return fence ? this.#formatFence(fence.marker, 1) : [];
  }

  #applyStyle(spans: readonly Span[]): Span[] {
    return spans.map((span) => withStyle(span, this.#options.context.style));
  }

  /** Creates a breaker for a line of the block, which begins in this row. */
  #createBreaker(firstRow = 1): RowBreaker {
    const { context: { getColumns }, getPrefix } = this.#options;
    return new RowBreaker({ getColumns, getPrefix: (row) => getPrefix(firstRow + row) });
  }

  #formatFence(text: string, firstRow: number): Line[] {
    const breaker = this.#createBreaker(firstRow);
    return [...breaker.write([{ text, role: "mark" }]), ...breaker.end()];
  }
}

/** Returns the name of the language in the text behind a fence, such as `ts title="sum"` or `{.python}`. */
function getLanguageName(label: string): string {
  const [name = ""] = label.match(/[^\s{}.,:=]+/) ?? [];
  return name.toLowerCase();
}
