/**
 * The live region: the rows at the bottom of the terminal that change, below output that does not.
 *
 * @module
 */

import type { Output } from "../host/terminal.ts";
import type { TerminalFeatures } from "../host/terminal_features.ts";
import type { StartTimer } from "../host/timer.ts";

/** The content of the live region. */
export interface RegionContent {
  /**
   * The rows, from the top. They may contain SGR sequences and links (OSC 8), all of which end in the row, and no other
   * control characters. Rows that are too wide are cut, and rows that are too many are omitted at the top, except for
   * the row of the cursor.
   */
  readonly rows: readonly string[];
  /** Position of the cursor: the index of its row, and its column. Default: the end of the last row. */
  readonly cursor?: RegionCursor | undefined;
}

/** A position in the live region. */
export interface RegionCursor {
  /** Index of the row. */
  readonly row: number;
  /** Column, from 0. */
  readonly column: number;
}

/**
 * Writes output and draws the live region below it.
 *
 * Output goes to the normal screen and is never changed afterwards. It may end in the middle of a line: the next chunk
 * continues there, and the region is drawn below. All text must have been sanitized: apart from line feeds, tabs, SGR
 * sequences and links, it contains no control characters.
 *
 * Where the terminal cannot move the cursor, there is no region, and output is written as it is.
 */
export interface LiveRegion {
  /**
   * Appends output: a chunk of text of any form. It is written at once, or together with other output within 33 ms.
   *
   * @returns A promise that resolves when more output is welcome: at once, unless a slow terminal is behind. It never
   * rejects; when the terminal is closed, output is discarded.
   */
  print(chunk: string): Promise<void>;
  /** Appends complete lines, on a new line if the output ends in the middle of one. No lines end only that line. */
  printLines(lines: readonly string[]): Promise<void>;
  /**
   * Replaces the content of the region. After a key it is drawn at once; after other events within 33 ms.
   *
   * @param cause What has changed the content. Default: `output`.
   */
  update(content: RegionContent, cause?: "key" | "output"): void;
  /** Appends complete lines and replaces the content of the region in the same frame, which is drawn at once. */
  draw(lines: readonly string[], content: RegionContent): Promise<void>;
  /** Draws the region again after a change of the size of the terminal. Called for each change. */
  resized(): void;
  /** Draws all rows of the region again, such as after another program has written to the terminal. */
  redraw(): void;
  /** Writes a sequence that changes nothing on the screen, such as a notification (OSC 9) or a copied text (OSC 52). */
  send(sequence: string): Promise<void>;
  /** Writes what is pending and resolves when the terminal has it. Output that is kept by `suspend()` remains. */
  flush(): Promise<void>;
  /**
   * Erases the region and leaves the cursor on an empty line below the output, so that another program can write. Output
   * is kept until `resume()`.
   */
  suspend(): Promise<void>;
  /**
   * Draws the region on the line of the cursor, wherever another program has moved it. Also without `suspend()`, such as
   * after the signal SIGCONT.
   */
  resume(): Promise<void>;
  /**
   * Writes pending output, erases the region and leaves the cursor on an empty line below the output. Later output is
   * written at once, without a region.
   */
  close(): Promise<void>;
}

/** Options for `createLiveRegion()`. */
export interface LiveRegionOptions {
  /** The terminal. */
  readonly output: Pick<Output, "write" | "closed">;
  /** Returns the size of the terminal. */
  readonly getSize: () => ScreenSize;
  /** Returns the current time in milliseconds, from any origin. */
  readonly now: () => number;
  /** Starts timers. */
  readonly startTimer: StartTimer;
  /** The abilities of the terminal. */
  readonly features: Pick<TerminalFeatures, "hasCursor" | "isSynchronized" | "reflow">;
}

/** Size of a terminal. */
export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}
