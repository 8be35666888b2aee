/**
 * Rendering of thinking: dimmed, or as its duration alone.
 *
 * @module
 */

import type { Line, SpanStyle } from "../line/line.ts";
import type { TextRenderer } from "../line/text_renderer.ts";
import type { Display } from "../theme/display.ts";
import { formatDuration } from "../usage_line.ts";
import { type MarkdownOptions, MarkdownRenderer } from "./markdown_renderer.ts";

/** Options for {@linkcode ThinkingRenderer}. */
export interface ThinkingOptions extends MarkdownOptions {
  /** Returns whether thinking is hidden; may change at any time. */
  readonly isHidden: () => boolean;
}

/** Renders thinking as Markdown. While it is hidden, a row shows its duration instead. */
export class ThinkingRenderer implements TextRenderer {
  readonly #options: ThinkingOptions;
  readonly #markdown: MarkdownRenderer;
  readonly #startedAt: number;
  /** Whether lines have been omitted. */
  #isAbridged = false;

  constructor(options: ThinkingOptions) {
    this.#options = options;
    this.#startedAt = options.now();
    this.#markdown = new MarkdownRenderer({ ...options, style: getThinkingStyle(options.display) });
  }

  /** Adds a chunk. Returns the lines that it completes; none while thinking is hidden. */
  push(chunk: string): Line[] {
    return this.#filter(this.#markdown.push(chunk));
  }

  /** The rows that may still change. */
  get open(): readonly Line[] {
    return this.#options.isHidden() ? [this.#formatSummary("thinking")] : this.#markdown.open;
  }

  /** Returns lines that are held back for too long. */
  poll(): Line[] {
    return this.#filter(this.#markdown.poll());
  }

  /** Ends thinking. Returns the remaining lines, or the duration where lines have been omitted. */
  end(): Line[] {
    const lines = this.#filter(this.#markdown.end());
    return this.#isAbridged ? [...lines, this.#formatSummary("thought")] : lines;
  }

  #filter(lines: Line[]): Line[] {
    if (!this.#options.isHidden()) return lines;
    if (lines.length > 0) this.#isAbridged = true;
    return [];
  }

  #formatSummary(verb: "thinking" | "thought"): Line {
    const { now, display, indent = [], label = [] } = this.#options;
    const duration = formatDuration(now() - this.#startedAt);
    const text = verb === "thought"
      ? `thought for ${duration}`
      : `thinking ${display.symbols.separator} ${duration}`;
    // The label of `--plain` is the same word.
    return [...indent, ...(display.isPlain ? [] : label), { text, role: "thinking" }];
  }
}

/** Returns the style of thinking, which dims code and links too where the theme dims thinking. */
function getThinkingStyle({ theme }: Display): SpanStyle {
  const { dim, italic } = theme.looks.thinking;
  return { role: "thinking", ...(dim && { dim }), ...(italic && { italic }) };
}
