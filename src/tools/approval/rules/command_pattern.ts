/**
 * Patterns of rules for shell commands, such as `git log *`.
 *
 * @module
 */

/** A pattern of words. */
export interface CommandPattern {
  /** The program and arguments, in each of which `*` matches any characters. */
  readonly words: readonly string[];
  /** Whether more words may follow. */
  readonly isPrefix: boolean;
}

/** Parses a pattern. `*` as the last word, or `:*` at its end, matches any further words. */
export function parseCommandPattern(source: string): CommandPattern {
  const words = source.replace(/:\*$/, " *").trim().split(/\s+/);
  const isPrefix = words.at(-1) === "*";
  return { words: isPrefix ? words.slice(0, -1) : words, isPrefix };
}

/** Whether a pattern matches every command. */
export function coversAnyCommand({ words, isPrefix }: CommandPattern): boolean {
  return isPrefix && words.every((word) => /^\**$/.test(word));
}
