/**
 * The interface of renderers of text that arrives in chunks.
 *
 * @module
 */

import type { Display } from "../theme/display.ts";
import type { Line, SpanStyle } from "./line.ts";

/**
 * Renders text while it arrives. A returned line never changes, however the text is split into chunks. Text that may
 * still change is `open`, which a live region redraws and other outputs ignore.
 */
export interface TextRenderer {
  /** Adds a chunk. Returns the lines that it completes. */
  push(chunk: string): Line[];
  /**
   * The rows that may still change, in order; usually one, empty without any. Computed on each read in bounded time, so
   * that it is read at most once per frame.
   */
  readonly open: readonly Line[];
  /** Returns lines that are held back for too long, such as a table that stopped growing. Called once per frame. */
  poll(): Line[];
  /** Ends the text. Returns the remaining lines; the renderer is not used again. */
  end(): Line[];
}

/** Options for renderers. */
export interface TextRendererOptions {
  /** Returns the columns of the terminal, which may change; `Infinity` for an output that is not a terminal. */
  readonly getColumns: () => number;
  /** How the output shows lines. */
  readonly display: Display;
  /** Style of all text, such as that of thinking. Default: none. */
  readonly style?: SpanStyle | undefined;
  /** Written before the first line, such as `assistant: ` with `--plain`. Default: none. */
  readonly label?: Line | undefined;
  /** Written before every line, such as the indentation of a sub-agent. Default: none. */
  readonly indent?: Line | undefined;
}
