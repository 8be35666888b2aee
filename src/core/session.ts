/**
 * Sessions, open, and the stores that keep them.
 *
 * @module
 */

import type { ModelSpec } from "./model.ts";
import type {
  EntryOutline,
  SessionEntry,
  SessionEntryBody,
  SessionEntryType,
  SessionHeader,
} from "./session_entry.ts";
import type { Cost, Usage } from "./usage.ts";

/** Something in a log that could not be read, and what was done about it. */
export interface SessionDamage {
  /**
   * `torn_tail`: the last line was never finished; it is passed over. `broken_line`: a line is no JSON or no
   * UTF-8; it is passed over. `broken_entry`: a line is no entry; it is passed over. `broken_header`: the
   * first line is missing or broken; the session is known by its name. `lost_parent`: the entry that this
   * one hangs on is gone; it hangs on the one before it. `duplicate_id`: the id was taken; it has another.
   */
  readonly type:
    | "torn_tail"
    | "broken_line"
    | "broken_entry"
    | "broken_header"
    | "lost_parent"
    | "duplicate_id";
  /** Where the line begins in the log, in bytes. */
  readonly offset: number;
  /** How long the line is, in bytes, without its end. */
  readonly length: number;
  /** The entry it is about, where it has one. */
  readonly entryId?: string;
}

/** Which entries of a path are wanted. */
export interface PathOptions {
  /** Where the path ends. Default: the session's leaf. */
  readonly leaf?: string | null;
  /** Only these kinds. Default: all. */
  readonly types?: readonly SessionEntryType[];
  /** Only entries from this time on, in milliseconds since the epoch. */
  readonly after?: number;
  /** Only so many, the last ones. */
  readonly last?: number;
}

/** Whether a session may be written to. */
export type SessionAccess = "write" | "read";

/**
 * One session, open. It has one writer at a time.
 *
 * `append` puts an entry into memory at once and into the log soon after, in order. `flush` resolves when
 * everything is on the disk; when the disk refuses, it rejects, and the session is back at what the log
 * holds.
 */
export interface Session extends AsyncDisposable {
  /** Name of the session. */
  readonly id: string;
  /** The header. */
  readonly header: SessionHeader;
  /** Whether it may be written to. */
  readonly access: SessionAccess;
  /** The entry that the next one hangs on; `null` when there is none. */
  readonly leafId: string | null;
  /** What was found broken when it was opened. */
  readonly damage: readonly SessionDamage[];
  /** All entries without their content, oldest first. */
  readonly outline: readonly EntryOutline[];
  /** Appends an entry behind the leaf, and makes it the leaf. */
  append(body: SessionEntryBody): SessionEntry;
  /** Makes an older entry the leaf, or none; later entries stay where they are. */
  moveLeaf(entryId: string | null): SessionEntry;
  /** The entries from the root to a leaf. */
  path(options?: PathOptions): Promise<readonly SessionEntry[]>;
  /** One entry, or `undefined` when there is none of this id. */
  entry(id: string): Promise<SessionEntry | undefined>;
  /** All entries, oldest first. */
  entries(): AsyncIterable<SessionEntry>;
  /** Resolves when all that was appended is on the disk. */
  flush(): Promise<void>;
  /** Flushes, and lets others write. */
  close(): Promise<void>;
}

/** What a list of sessions shows. */
export interface SessionSummary {
  /** Name of the session. */
  readonly id: string;
  /** When it began, in milliseconds since the epoch. */
  readonly created: number;
  /** When its last entry was written, in milliseconds since the epoch. */
  readonly updated: number;
  /** The folder it was about. */
  readonly cwd?: string;
  /** Where it was forked from. */
  readonly parent?: SessionHeader["parent"];
  /** Its title. */
  readonly title?: string;
  /** The beginning of the first thing that was asked. */
  readonly firstPrompt?: string;
  /** The model that was asked last. */
  readonly model?: ModelSpec;
  /** How many entries it has. */
  readonly entries: number;
  /** How many of them are messages. */
  readonly messages: number;
  /** The entry that the next one hangs on. */
  readonly leafId: string | null;
  /** Tokens of everything in it. */
  readonly usage: Usage;
  /** Cost of everything in it. */
  readonly cost: Cost;
  /** Size of its log, in bytes. */
  readonly bytes: number;
  /** Why it cannot be opened, if it cannot. */
  readonly problem?: string;
}

/** What {@linkcode SessionStore.create} takes. */
export interface CreateSessionOptions {
  /** Name of the session. Default: the time and something random. */
  readonly id?: string;
  /** The folder it is about. */
  readonly cwd?: string;
  /** Where it was forked from. */
  readonly parent?: SessionHeader["parent"];
  /** Entries to begin with; their ids, parents and times stay. */
  readonly entries?: readonly SessionEntry[];
}

/** What {@linkcode SessionStore.list} takes. */
export interface ListSessionsOptions {
  /** Only sessions about this folder. */
  readonly cwd?: string;
  /** At most so many. */
  readonly limit?: number;
}

/** What {@linkcode SessionStore.search} takes. */
export interface SearchSessionsOptions {
  /** Only this session. */
  readonly sessionId?: string;
  /** Only these kinds of entries. */
  readonly types?: readonly SessionEntryType[];
  /** Only entries from this time on, in milliseconds since the epoch. */
  readonly after?: number;
  /** Only entries before this time, in milliseconds since the epoch. */
  readonly before?: number;
  /** At most so many hits. Default: 50. */
  readonly limit?: number;
  /** Ends the search early; what was found is given. */
  readonly signal?: AbortSignal;
}

/** An entry that a search found. */
export interface SearchHit {
  /** The session. */
  readonly sessionId: string;
  /** The entry. */
  readonly entryId: string;
  /** What kind of entry it is. */
  readonly type: SessionEntryType;
  /** When it was written, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** The text around the first match, on one line. */
  readonly snippet: string;
}

/**
 * Keeps sessions. All methods reject with a {@linkcode SessionError}.
 *
 * {@linkcode testSessionStore} of `@swink/agent/testing` checks an implementation.
 */
export interface SessionStore {
  /** Begins a session, open for writing. Nothing is kept of one that gets no entry. */
  create(options?: CreateSessionOptions): Promise<Session>;
  /** Opens a session; for writing unless told otherwise. */
  open(id: string, options?: { readonly access?: SessionAccess }): Promise<Session>;
  /** All sessions, the one that was written to last first. */
  list(options?: ListSessionsOptions): Promise<readonly SessionSummary[]>;
  /**
   * Entries in which every word of the query begins a word, case ignored; of the session that was written to
   * last first, and in each the oldest first.
   */
  search(query: string, options?: SearchSessionsOptions): Promise<readonly SearchHit[]>;
  /** Deletes a session for good; one that is open for writing is not deleted. */
  delete(id: string): Promise<void>;
}
