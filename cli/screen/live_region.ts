/**
 * The live region: the rows at the bottom of the terminal that change, below output that does not.
 *
 * @module
 */

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
  /** Appends complete lines, on a new line if the output ends in the middle of one. */
  printLines(lines: readonly string[]): Promise<void>;
  /**
   * Replaces the content of the region. After a key it is drawn at once; after other events within 33 ms.
   *
   * @param cause What has changed the content. Default: `output`.
   */
  update(content: RegionContent, cause?: "key" | "output"): void;
  /** Draws the region again after a change of the size of the terminal. Called for each change. */
  resized(): void;
  /** Writes what is pending and resolves when the terminal has it. */
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
  /** Writes pending output, erases the region and leaves the cursor on an empty line below the output. */
  close(): Promise<void>;
}
