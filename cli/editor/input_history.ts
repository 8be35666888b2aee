/**
 * The inputs of this and of earlier conversations.
 *
 * @module
 */

import { join } from "../../src/platform/paths.ts";
import { HistoryFile } from "./history_file.ts";
import { containsSecret } from "./secret_text.ts";

/** Maximum number of entries. */
const MAX_ENTRIES = 1_000;

/** Longest text that is kept, in characters. */
const MAX_TEXT = 65_536;

/** The inputs, which Up and Ctrl+R find. */
export interface InputHistory {
  /** The inputs, the latest first. */
  readonly entries: readonly string[];
  /**
   * Adds an input, also for later conversations. Blank texts, very long ones and those with a key or password are not
   * kept. Never rejects.
   */
  add(text: string): Promise<void>;
}

/** Options for `openInputHistory()`. */
export interface InputHistoryOptions {
  /** The program's directory of state; without it, the history ends with the program. */
  readonly directory: string | undefined;
  /** Keys that are in use, in addition to those that can be recognized. Default: none. */
  readonly secrets?: readonly string[] | undefined;
  /** Returns the current time, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Called when the file cannot be read or written, once. Default: this is ignored. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

/** Reads the history. Never rejects. */
export async function openInputHistory(options: InputHistoryOptions): Promise<InputHistory> {
  const { directory, secrets = [], now } = options;
  const file = directory === undefined
    ? undefined
    : new HistoryFile(join(directory, "history.jsonl"), { maxEntries: MAX_ENTRIES });
  let { onFailure } = options;
  const reportFailure = (error: unknown) => {
    onFailure?.(error);
    onFailure = undefined;
  };
  const entries: string[] = [];
  for (const text of await file?.read().catch(reportFailure) ?? []) addEntry(entries, text);
  let writing: Promise<void> = Promise.resolve();
  return {
    entries,
    add(text) {
      if (!isKept(text, secrets) || !addEntry(entries, text)) return writing;
      writing = writing.then(() => file?.append({ text, at: now() })).catch(reportFailure);
      return writing;
    },
  };
}

function isKept(text: string, secrets: readonly string[]): boolean {
  return text.trim() !== "" && text.length <= MAX_TEXT && !containsSecret(text, secrets);
}

/** Adds an entry unless it is the latest one. Returns whether it was added. */
function addEntry(entries: string[], text: string): boolean {
  if (entries[0] === text) return false;
  entries.unshift(text);
  entries.splice(MAX_ENTRIES);
  return true;
}
