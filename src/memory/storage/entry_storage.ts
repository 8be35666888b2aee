/**
 * The storage that an author of a session store writes; `storeFrom()` does the rest.
 *
 * @module
 */

import type { SessionOwner } from "../../core/errors/errors.ts";
import type {
  DeleteSessionsOptions,
  SessionFilter,
  SessionSummary,
} from "../../core/sessions/session.ts";
import type { EntryOutline, SessionHeader } from "../../core/sessions/session_entry.ts";
import type { HitPosition, SessionOrder } from "../store/session_page.ts";

/** An entry as it is stored. */
export interface StoredEntry extends EntryOutline {
  /** The entry as JSON, on one line. It is returned unchanged by {@linkcode EntryStorage.readLines}. */
  readonly line: string;
  /** The text that a full-text index has for the entry; empty if there is none. */
  readonly searchText: string;
}

/** Entries to be appended to a session. */
export interface EntryAppend {
  /** The header, to be stored with the first entries. */
  readonly header: SessionHeader;
  /** The entries, oldest first; at least one. */
  readonly entries: readonly StoredEntry[];
  /** Number of entries that the session has already: the position of the first new one. */
  readonly position: number;
  /** The summary of the session with the new entries; replaces the stored one. */
  readonly summary: SessionSummary;
  /** The token of the writer's lease. */
  readonly token: string;
}

/** A session as it is stored, without the lines of its entries. */
export interface StoredSession {
  /** The header. */
  readonly header: SessionHeader;
  /** The summary that was stored last. */
  readonly summary: SessionSummary;
  /** The entries in their order; `undefined` for one that is missing or cannot be read. */
  readonly outline: readonly (EntryOutline | undefined)[];
}

/** A request for the right to write to a session. */
export interface LeaseRequest {
  /** Identifies the lease; a lease with the same token is renewed. */
  readonly token: string;
  /** The process that asks; `heartbeat` is the time of the request. */
  readonly owner: SessionOwner;
  /** Time after which the lease ends unless it is renewed, in milliseconds; may be `Infinity`. */
  readonly durationMs: number;
}

/** Answer to a {@linkcode LeaseRequest}. */
export type LeaseResult =
  /** The lease is granted or renewed. */
  | { readonly type: "granted" }
  /** Another lease has not ended; its owner, if known. */
  | { readonly type: "refused"; readonly owner?: SessionOwner | undefined };

/**
 * The storage behind a session store. Ids of sessions are any text; all other values can be stored as JSON.
 *
 * A method that fails rejects with any error; the store reports it as a `SessionError`.
 */
export interface EntryStorage {
  /**
   * Appends entries, all or none, and replaces the summary. The session is created with its first entries.
   *
   * Resolves to `false`, without any change, if the session does not have exactly `position` entries, or if the lease
   * with this token has ended and another one was granted.
   */
  append(sessionId: string, append: EntryAppend): Promise<boolean>;
  /** Loads a session; `undefined` if there is none. */
  load(sessionId: string): Promise<StoredSession | undefined>;
  /** Reads the lines of the entries at ascending positions; `undefined` for a line that cannot be read. */
  readLines(
    sessionId: string,
    positions: readonly number[],
  ): Promise<readonly (string | undefined)[]>;
  /**
   * Lists the summaries of the sessions that match, by `updated`, then by the code points of `id`, both descending;
   * `selectSummaries()` does so for a storage that cannot sort.
   */
  list(options: StorageListOptions): Promise<readonly SessionSummary[]>;
  /**
   * Deletes a session permanently; resolves to `false` if there is none. `token` is that of the lease under which it is
   * deleted; a storage whose leases can end rejects if another one was granted since.
   */
  delete(sessionId: string, token: string): Promise<boolean>;
  /**
   * Grants or renews the lease of a session's writer, atomically: at most one lease of a session has not ended. The
   * session need not exist.
   */
  lease(sessionId: string, request: LeaseRequest): Promise<LeaseResult>;
  /** Ends a lease, unless another one was granted since. */
  release(sessionId: string, token: string): Promise<void>;
  /** Resolves when all appended entries of a session would survive a power failure. Default: `append` does so. */
  sync?(sessionId: string): Promise<void>;
  /**
   * Finds entries by their search texts, at most `limit`, in the order of {@linkcode EntryStorage.list} and of their
   * positions. Fewer than `limit` mean that there are no more. Default: all lines are read.
   */
  search?(query: StorageSearch): Promise<readonly StorageHit[]>;
  /**
   * Deletes the sessions that match and have no lease, or one that has ended; resolves to their ids. Default: the sessions are
   * listed, and deleted one by one.
   */
  deleteAll?(options: DeleteSessionsOptions): Promise<readonly string[]>;
  /** Closes the storage. */
  close?(): Promise<void>;
}

/** Options for {@linkcode EntryStorage.list}. */
export interface StorageListOptions extends SessionFilter {
  /** Maximum number of sessions. Default: no limit. */
  readonly limit?: number | undefined;
  /** Only sessions after this position. Default: all. */
  readonly after?: SessionOrder | undefined;
}

/** A search in the storage. */
export interface StorageSearch extends SessionFilter {
  /**
   * Words in lower case; in scripts without spaces, each character is a word. An entry matches if each of them is the
   * beginning of one of its words.
   */
  readonly words: readonly string[];
  /** Id of the session to search. Default: all sessions. */
  readonly sessionId?: string;
  /** Maximum number of hits. */
  readonly limit: number;
  /** Only entries after this position. Default: all. */
  readonly after?: HitPosition;
}

/** An entry that may match a search; the store examines its line. */
export interface StorageHit extends HitPosition {
  /** The line of the entry. */
  readonly line: string;
}
