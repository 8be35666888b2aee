/**
 * The blocks that hold text: paragraphs, code, tables.
 *
 * @module
 */

import type { Highlighter } from "../highlight/highlighter.ts";
import type { Line, SpanStyle } from "../line/line.ts";
import type { Display } from "../theme/display.ts";

/** Properties of the output that all blocks share. */
export interface BlockContext {
  /** Returns the columns of the terminal. */
  readonly getColumns: () => number;
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
  /** How the output shows lines. */
  readonly display: Display;
  /** Style of the text. */
  readonly style: SpanStyle;
  /** Highlights code. */
  readonly highlighter?: Highlighter | undefined;
}

/** Options for blocks. */
export interface BlockOptions {
  /** Properties of the output. */
  readonly context: BlockContext;
  /** Returns the text before a row of the block by its number, from 0. */
  readonly getPrefix: (row: number) => Line;
}
