/**
 * Where the entries of one session are kept: what a store has to provide, and all it has to provide.
 *
 * @module
 */

import type { SessionEntry } from "../../core/session_entry.ts";

/** How an append went: how many of the entries are kept now, and why not all of them. */
export interface AppendResult {
  /** How many of the entries are kept, from the first on. */
  readonly kept: number;
  /** Why the others are not. */
  readonly error?: unknown;
}

/** The kept entries of one open session. Calls never overlap, reads excepted. */
export interface EntryLog {
  /** Keeps entries behind those that are kept already. Never rejects. */
  append(entries: readonly SessionEntry[]): Promise<AppendResult>;
  /** Resolves when all that is kept would survive a loss of power. */
  sync(): Promise<void>;
  /**
   * Reads the entries at positions of the session's tree, given from the oldest on; `undefined` for one that
   * cannot be read any more.
   */
  read(positions: readonly number[]): Promise<readonly (SessionEntry | undefined)[]>;
  /** Gives the session free. */
  close(): Promise<void>;
}
