/**
 * Writing of the blocks of a Markdown document.
 *
 * @module
 */

import type { Line } from "../line/line.ts";
import { wrapLine } from "../line/wrap_line.ts";
import type { BlockContext, BlockOptions } from "./block.ts";
import { CodeBlock, MAX_HIGHLIGHTED } from "./code_block.ts";
import {
  type Container,
  createBlankRow,
  createPrefix,
  limitPrefix,
  openContainer,
} from "./container.ts";
import { renderHeading, renderRule } from "./heading.ts";
import {
  type Fence,
  type LeafStart,
  type LineContext,
  type LineStart,
  parseLineStart,
  removeContainers,
} from "./line_start.ts";
import { Paragraph } from "./paragraph.ts";
import { TableBlock } from "./table_block.ts";

/** The open block. */
type Leaf =
  | { readonly type: "none" }
  | { readonly type: "paragraph"; readonly paragraph: Paragraph }
  | { readonly type: "fence"; readonly fence: Fence; readonly code: CodeBlock }
  | { readonly type: "table"; readonly table: TableBlock; readonly isPiped: boolean };

/** Options for {@linkcode DocumentWriter}. */
export interface DocumentOptions {
  /** Properties of the output. */
  readonly context: BlockContext;
  /** Written before the first row. */
  readonly label: Line;
  /** Written before every row. */
  readonly indent: Line;
}

/** Characters at the end of an unfinished line that are shown while its block is unknown. */
const MAX_PREVIEW = 500;

const none: Leaf = { type: "none" };

/** Writes a document line by line. The text of a line may arrive in parts once its block is known. */
export class DocumentWriter {
  readonly #context: BlockContext;
  readonly #indent: Line;
  #label: Line;
  #containers: Container[] = [];
  #leaf: Leaf = none;
  #isBlankPending = false;
  /** Whether the last row is blank, or there is none. */
  #endsBlank = true;
  /** Whether there is no blank row above the open block. */
  #isBelowText = false;

  constructor({ context, label, indent }: DocumentOptions) {
    this.#context = context;
    this.#label = label;
    this.#indent = indent;
  }

  /** Handling of the text behind the beginning of a line: a line of code, or a block that the beginning determines. */
  get mode(): "code" | "block" {
    return this.#leaf.type === "fence" ? "code" : "block";
  }

  /** Finds the block of a line by its beginning. */
  parse(line: string, { isComplete }: { readonly isComplete: boolean }): LineStart {
    return parseLineStart(line, { ...this.#getLineContext(), isComplete });
  }

  /** Starts a line, whose rest is passed to `pushText()` if it is not complete. Returns the rows that it completes. */
  startLine(start: LineStart): Line[] {
    switch (start.type) {
      case "incomplete":
        return [];
      case "blank":
        return this.#startBlank(start.matched);
      case "content":
        return this.#startContent(start);
    }
  }

  /** Adds text to the current line of the paragraph. */
  pushText(text: string): Line[] {
    return this.#leaf.type === "paragraph" ? this.#leaf.paragraph.push(text) : [];
  }

  /** Writes a part of a line of code that is too long to be held. Returns `undefined` if the line can be held. */
  startLongCode(line: string): Line[] | undefined {
    if (this.#leaf.type !== "fence" || line.length <= MAX_HIGHLIGHTED) return undefined;
    const text = removeContainers(line, this.#containers, this.#leaf.fence.indent);
    if (text === undefined || text.length <= MAX_HIGHLIGHTED) return undefined;
    return this.#leaf.code.pushLong(text);
  }

  /** Adds text to a long line of code. */
  pushLongCode(text: string): Line[] {
    return this.#leaf.type === "fence" ? this.#leaf.code.pushLong(text) : [];
  }

  /** Ends a long line of code. */
  endLongCode(): Line[] {
    return this.#leaf.type === "fence" ? this.#leaf.code.endLine("") : [];
  }

  /** Writes a line that arrives while code is open. */
  writeCodeLine(line: string): Line[] {
    const leaf = this.#leaf;
    if (leaf.type !== "fence") return [];
    const text = removeContainers(line, this.#containers, leaf.fence.indent);
    // The quote that contains the code has ended.
    if (text === undefined) return [...this.#endLeaf(), ...this.#writeCompleteLine(line)];
    return isClosingFence(text, leaf.fence) ? this.#endLeaf() : leaf.code.endLine(text);
  }

  /** Returns the rows of a table that has been held for too long. */
  poll(): Line[] {
    return this.#leaf.type === "table" ? this.#leaf.table.poll() : [];
  }

  /** Ends all blocks. Returns the remaining rows. */
  end(): Line[] {
    return [...this.#endLeaf(), ...this.#closeContainers(0)];
  }

  /** Returns the rows that may still change; `line` is the beginning of a line that has not been started. */
  preview(line: string): Line[] {
    const leaf = this.#leaf;
    switch (leaf.type) {
      case "fence":
        return this.#previewCode(leaf, line);
      case "paragraph":
        return [...leaf.paragraph.open, ...this.#previewLine(line)];
      case "table":
        return [...leaf.table.open, ...this.#previewLine(line)];
      case "none":
        return this.#previewLine(line);
    }
  }

  #previewCode({ code, fence }: Extract<Leaf, { type: "fence" }>, line: string): Line[] {
    if (code.isInLine) return code.preview("");
    if (line === "") return [];
    return code.preview(removeContainers(line, this.#containers, fence.indent) ?? line);
  }

  #previewLine(line: string): Line[] {
    const text = line.slice(-MAX_PREVIEW).trim();
    if (text === "") return [];
    const { getColumns, style } = this.#context;
    const { next } = createPrefix(this.#containers, this.#context.display);
    return wrapLine([{ ...style, text }], {
      columns: getColumns(),
      first: this.#limit(next),
      next: this.#limit(next),
    });
  }

  #writeCompleteLine(line: string): Line[] {
    return this.startLine(this.parse(line, { isComplete: true }));
  }

  #getLineContext(): Omit<LineContext, "isComplete"> {
    const containers = this.#containers;
    const leaf = this.#leaf;
    if (leaf.type === "table") return { containers, open: leaf.isPiped ? "piped_table" : "table" };
    if (leaf.type !== "paragraph") return { containers, open: "none" };
    return { containers, open: "paragraph", header: leaf.paragraph.header };
  }

  #startBlank(matched: number): Line[] {
    this.#isBlankPending = true;
    const lines = this.#endLeaf();
    // Items continue behind a blank line; quotes do not.
    const quote = this.#containers.findIndex(({ type }, index) =>
      index >= matched && type === "quote"
    );
    return quote < 0 ? lines : [...lines, ...this.#closeContainers(quote)];
  }

  #startContent(start: Extract<LineStart, { type: "content" }>): Line[] {
    const { added, leaf, isLazy } = start;
    const matched = isLazy ? this.#containers.length : start.matched;
    const continuesContainers = matched === this.#containers.length && added.length === 0;
    const continued = continuesContainers ? this.#continueLeaf(leaf) : undefined;
    if (continued) return continued;
    const lines = this.#endLeaf();
    const previous = this.#containers[matched];
    lines.push(...this.#closeContainers(matched), ...this.#writeBlank(leaf.type === "heading"));
    for (const [index, container] of added.entries()) {
      this.#containers.push(openContainer(container, index === 0 ? previous : undefined));
    }
    return [...lines, ...this.#startLeaf(leaf)];
  }

  /** Continues the open block with a line; `undefined` if the line begins another block. */
  #continueLeaf(start: LeafStart): Line[] | undefined {
    const leaf = this.#leaf;
    if (leaf.type === "table" && start.type === "table_row") return leaf.table.push(start.text);
    if (leaf.type !== "paragraph") return undefined;
    const { paragraph } = leaf;
    switch (start.type) {
      case "paragraph":
        return paragraph.startLine(start.text);
      case "pipe_line":
        return paragraph.hold(start.text, { isFirst: false });
      case "delimiter_row":
        return this.#turnIntoTable(paragraph, start.text);
      case "underline":
        if (paragraph.title) return this.#turnIntoHeading(paragraph, start.level);
        return start.level === 1 ? paragraph.startLine(start.text) : undefined;
      default:
        return undefined;
    }
  }

  #turnIntoTable(paragraph: Paragraph, delimiters: string): Line[] {
    const { header = "", options, isHeaderFirst } = paragraph;
    const lines = isHeaderFirst ? [] : paragraph.endBeforeHeader();
    const table = new TableBlock({
      ...options,
      // Rows of the paragraph have the markers of its items.
      getPrefix: isHeaderFirst ? options.getPrefix : () => options.getPrefix(1),
      header,
      delimiters,
    });
    this.#leaf = { type: "table", table, isPiped: header.startsWith("|") };
    return lines;
  }

  #turnIntoHeading({ title = "", options }: Paragraph, level: number): Line[] {
    this.#leaf = none;
    const blank = this.#isBelowText ? [this.#createBlankRow()] : [];
    return [...blank, ...renderHeading({ level, text: title }, options)];
  }

  #startLeaf(start: LeafStart): Line[] {
    // An item without text is written when it ends.
    if (start.type === "paragraph" && start.text === "") return [];
    const options = this.#createBlockOptions();
    switch (start.type) {
      case "heading":
        return renderHeading(start, options);
      case "rule":
        return renderRule(options);
      case "underline":
        return start.level === 1 ? this.#startParagraph(options, start.text) : renderRule(options);
      case "indented_code":
        return new CodeBlock(options).endLine(start.text);
      case "fence": {
        const code = new CodeBlock({ ...options, fence: start });
        this.#leaf = { type: "fence", fence: start, code };
        return code.start();
      }
      case "pipe_line": {
        const paragraph = new Paragraph(options);
        this.#leaf = { type: "paragraph", paragraph };
        return paragraph.hold(start.text, { isFirst: true });
      }
      case "paragraph":
      case "delimiter_row":
      case "table_row":
        return this.#startParagraph(options, start.text);
    }
  }

  #startParagraph(options: BlockOptions, text: string): Line[] {
    const paragraph = new Paragraph(options);
    this.#leaf = { type: "paragraph", paragraph };
    return paragraph.push(text);
  }

  #endLeaf(): Line[] {
    const leaf = this.#leaf;
    this.#leaf = none;
    switch (leaf.type) {
      case "paragraph":
        return leaf.paragraph.end();
      case "fence":
        return leaf.code.end();
      case "table":
        return leaf.table.end();
      case "none":
        return [];
    }
  }

  /** Writes the blank row before a block, where the source has one or `isRequired`. */
  #writeBlank(isRequired: boolean): Line[] {
    const isBlank = (this.#isBlankPending || isRequired) && !this.#endsBlank;
    this.#isBlankPending = false;
    if (!isBlank) return [];
    this.#endsBlank = true;
    return [this.#createBlankRow()];
  }

  #createBlankRow(): Line {
    return [...this.#indent, ...createBlankRow(this.#containers, this.#context.display)];
  }

  /** Closes the containers from an index. Returns the rows of items without text. */
  #closeContainers(index: number): Line[] {
    const isEmpty = this.#containers.some((container, at) =>
      at >= index && container.type === "item" && !container.isMarked
    );
    const lines = isEmpty ? [this.#createBlockOptions().getPrefix(0)] : [];
    this.#containers.length = Math.min(index, this.#containers.length);
    return lines;
  }

  /** Creates the options of a block, which writes the markers of its items. */
  #createBlockOptions(): BlockOptions {
    const { first, next } = createPrefix(this.#containers, this.#context.display);
    const label = this.#label;
    this.#label = [];
    this.#isBelowText = !this.#endsBlank;
    this.#endsBlank = false;
    for (const container of this.#containers) {
      if (container.type === "item") container.isMarked = true;
    }
    return {
      context: this.#context,
      getPrefix: (row) => row === 0 ? this.#limit(first, label) : this.#limit(next),
    };
  }

  /** Returns the indentation, a label and the prefix of containers, which is limited to half of the terminal. */
  #limit(prefix: Line, label: Line = []): Line {
    return [...this.#indent, ...label, ...limitPrefix(prefix, this.#context.getColumns())];
  }
}

function isClosingFence(text: string, { marker }: Fence): boolean {
  const trimmed = text.trim();
  return trimmed.startsWith(marker) && trimmed === (marker[0] ?? "").repeat(trimmed.length);
}
