/**
 * Completion of words in the input.
 *
 * @module
 */

/** The word that is completed. */
export interface CompletionRequest {
  /** The complete text of the input. */
  readonly text: string;
  /** The word before the cursor, such as `/mod` or `@src/`. */
  readonly word: string;
  /** Offset of the word in the text. */
  readonly start: number;
  /** Offset of the cursor, which is the end of the word. */
  readonly end: number;
  /** Whether a character was typed, or the key for completion was pressed. */
  readonly cause: "typed" | "key";
}

/** A text that can replace the word. */
export interface Completion {
  /** The text, such as `/model` or `@README.md`. */
  readonly text: string;
  /** Explanation, shown next to it. */
  readonly detail?: string | undefined;
  /** Whether the word continues after it, as that of a directory does; else a space follows. Default: `false`. */
  readonly isPartial?: boolean | undefined;
}

/** Finds completions. */
export interface Completer {
  /**
   * Returns the completions of a word, best first; `undefined` if it does not complete such words. May reject; then there
   * are no completions.
   */
  complete(
    request: CompletionRequest,
    signal: AbortSignal,
  ): Promise<readonly Completion[] | undefined>;
}
