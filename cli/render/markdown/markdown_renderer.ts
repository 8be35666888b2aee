/**
 * Rendering of Markdown as styled lines, while it arrives.
 *
 * @module
 */

import type { Highlighter } from "../highlight/highlighter.ts";
import type { Line } from "../line/line.ts";
import type { TextRenderer, TextRendererOptions } from "../line/text_renderer.ts";
import { PlainTextFilter } from "../plain_text.ts";
import { DocumentWriter } from "./document_writer.ts";

/** Options for {@linkcode MarkdownRenderer}. */
export interface MarkdownOptions extends TextRendererOptions {
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
  /** Highlights code. Default: code is not highlighted. */
  readonly highlighter?: Highlighter | undefined;
}

/** Length of an unfinished line up to which its block is looked for with every chunk. */
const SHORT_LINE = 64;

/**
 * Renders Markdown line by line, in time and memory proportional to its length. A paragraph is written row by row, code
 * line by line, and a table when it ends, or after 40 rows or two seconds. Escape sequences are removed from the text, and
 * controls of its direction are shown as code points.
 */
export class MarkdownRenderer implements TextRenderer {
  readonly #filter = new PlainTextFilter({ bidi: "show" });
  readonly #document: DocumentWriter;
  /** The beginning of a line whose block is unknown, or a line of code. */
  #line = "";
  /** Length of the line when its block was looked for the last time. */
  #parsedLength = 0;
  /** Destination of the text up to the next line feed. */
  #mode: "line" | "paragraph" | "long_code" = "line";

  constructor(options: MarkdownOptions) {
    const { getColumns, now, display, style = {}, highlighter, label = [], indent = [] } = options;
    const context = { getColumns, now, display, style, highlighter };
    this.#document = new DocumentWriter({ context, label, indent });
  }

  /** Adds a chunk. Returns the lines that it completes. */
  push(chunk: string): Line[] {
    const text = this.#filter.push(chunk);
    const lines = this.poll();
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      lines.push(...this.#pushPart(text.slice(start, end)), ...this.#endLine());
      start = end + 1;
    }
    lines.push(...this.#pushPart(text.slice(start)));
    return lines;
  }

  /** The rows that may still change. */
  get open(): readonly Line[] {
    return this.#document.preview(this.#line);
  }

  /** Returns the lines of a table that has been held back for two seconds. */
  poll(): Line[] {
    return this.#document.poll();
  }

  /** Ends the text. Returns the remaining lines. */
  end(): Line[] {
    const lines = this.#mode === "line" && this.#line === "" ? [] : this.#endLine();
    return [...lines, ...this.#document.end()];
  }

  #pushPart(part: string): Line[] {
    if (part === "") return [];
    switch (this.#mode) {
      case "paragraph":
        return this.#document.pushText(part);
      case "long_code":
        return this.#document.pushLongCode(part);
      case "line":
        this.#line += part;
        return this.#document.mode === "code" ? this.#startLongCode() : this.#startBlock();
    }
  }

  #startLongCode(): Line[] {
    const lines = this.#document.startLongCode(this.#line);
    if (!lines) return [];
    this.#mode = "long_code";
    this.#line = "";
    return lines;
  }

  /** Looks for the block of the line, less often the longer the line is, so that the time is linear. */
  #startBlock(): Line[] {
    const { length } = this.#line;
    if (length > SHORT_LINE && length < 2 * this.#parsedLength) return [];
    this.#parsedLength = length;
    const start = this.#document.parse(this.#line, { isComplete: false });
    if (start.type !== "content") return [];
    this.#mode = "paragraph";
    this.#line = "";
    return this.#document.startLine(start);
  }

  #endLine(): Line[] {
    const lines = this.#writeLine();
    this.#mode = "line";
    this.#line = "";
    this.#parsedLength = 0;
    return lines;
  }

  #writeLine(): Line[] {
    switch (this.#mode) {
      case "paragraph":
        return [];
      case "long_code":
        return this.#document.endLongCode();
      case "line": {
        if (this.#document.mode === "code") return this.#document.writeCodeLine(this.#line);
        return this.#document.startLine(this.#document.parse(this.#line, { isComplete: true }));
      }
    }
  }
}
