/**
 * The storage of one session's entries, which every store implements.
 *
 * @module
 */

import type { SessionDamage } from "../../core/sessions/session.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import type { EncodedEntry } from "./entry_encoder.ts";

/** Result of {@linkcode EntryLog.append}. */
export interface AppendResult {
  /** Number of entries that were stored; the others, at the end, were not. */
  readonly kept: number;
  /** The error, if not all entries were stored. */
  readonly error?: unknown;
}

/** The stored entries of one open session. Appends do not overlap each other. */
export interface EntryLog {
  /** Appends entries. Never rejects. */
  append(entries: readonly EncodedEntry[]): Promise<AppendResult>;
  /** Resolves when all stored entries would survive a power failure. */
  sync(): Promise<void>;
  /**
   * Reads the entries at ascending positions of the session's tree; `undefined` for an entry that can no longer be
   * read.
   */
  read(positions: readonly number[]): Promise<readonly (SessionEntry | undefined)[]>;
  /** Returns the place of an entry in the log, to report damage. */
  locate(position: number): Pick<SessionDamage, "offset" | "length">;
  /** Closes the log and releases the lock. */
  close(): Promise<void>;
}
