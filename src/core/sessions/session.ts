/**
 * Open sessions, and the stores that persist them.
 *
 * @module
 */

import type { JsonObject } from "../json/json.ts";
import type { ModelSpec } from "../models/model.ts";
import type { Cost, Usage } from "../models/usage.ts";
import type {
  EntryOutline,
  SessionEntry,
  SessionEntryBody,
  SessionEntryType,
  SessionHeader,
} from "./session_entry.ts";

/** Damage in the log of a session that was ignored or repaired when the session was opened. */
export interface SessionDamage {
  /**
   * Kind of damage.
   *
   * `torn_tail`: the last line is incomplete and ignored. `broken_line`: a line is not JSON or not UTF-8 and ignored.
   * `broken_entry`: a line is not an entry and ignored. `broken_header`: the first line is missing or invalid; the id
   * is that of the log. `lost_parent`: the parent of the entry is missing; the preceding entry becomes its parent.
   * `duplicate_id`: the id is in use; the entry gets a new one, or is ignored if it is a copy.
   */
  readonly type:
    | "torn_tail"
    | "broken_line"
    | "broken_entry"
    | "broken_header"
    | "lost_parent"
    | "duplicate_id";
  /** Offset of the line in the log, in bytes; in a store without files, the number of entries before it. */
  readonly offset: number;
  /** Length of the line without its newline, in bytes; 0 in a store without files. */
  readonly length: number;
  /** Id of the affected entry, if it has one. */
  readonly entryId?: string;
}

/** Options for {@linkcode Session.path}. */
export interface PathOptions {
  /** Id of the last entry of the path; `null` gives an empty path. Default: the leaf of the session. */
  readonly leaf?: string | null | undefined;
  /** Types of the entries to return. Default: all. */
  readonly types?: readonly SessionEntryType[] | undefined;
  /** Earliest timestamp of the entries to return, in milliseconds since the epoch. Default: no limit. */
  readonly after?: number | undefined;
  /** Maximum number of entries; the last ones are returned. Default: no limit. */
  readonly last?: number | undefined;
}

/** Access mode of an open session. */
export type SessionAccess = "write" | "read";

/**
 * An open session. A session can be open for writing only once at a time.
 *
 * `append()` adds an entry in memory immediately and writes it to the log asynchronously, in order. `flush()` resolves
 * when all entries are persisted. If a write fails, `flush()` rejects and the entries that were not written are removed
 * from memory. All methods throw or reject with a `SessionError`.
 */
export interface Session extends AsyncDisposable {
  /** Id of the session. */
  readonly id: string;
  /** The header. */
  readonly header: SessionHeader;
  /** Access mode. */
  readonly access: SessionAccess;
  /** Id of the leaf, which is the parent of the next entry; `null` if there is none. */
  readonly leafId: string | null;
  /** The damage that was found until now: when the session was opened, and when entries were read. */
  readonly damage: readonly SessionDamage[];
  /** All entries without their content, in the order of the log. */
  readonly outline: readonly EntryOutline[];
  /** Appends an entry as a child of the leaf and makes it the leaf. */
  append(body: SessionEntryBody): SessionEntry;
  /** Makes an existing entry the leaf, or none if `null`, by appending a `leaf_moved` entry; no entry is deleted. */
  moveLeaf(entryId: string | null): SessionEntry;
  /** Returns the entries from the root to a leaf. */
  path(options?: PathOptions): Promise<readonly SessionEntry[]>;
  /** Returns the entry with an id, or `undefined` if there is none. */
  entry(id: string): Promise<SessionEntry | undefined>;
  /** Iterates over all entries in the order of the log. */
  entries(): AsyncIterable<SessionEntry>;
  /** Resolves when all appended entries are persisted. */
  flush(): Promise<void>;
  /** Flushes and releases the session for other writers. */
  close(): Promise<void>;
}

/** Summary of a session, as listed by {@linkcode SessionStore.list}. */
export interface SessionSummary {
  /** Id of the session. */
  readonly id: string;
  /** Time of creation, in milliseconds since the epoch. */
  readonly created: number;
  /** Time of the last entry, in milliseconds since the epoch. */
  readonly updated: number;
  /** Working directory of the session. */
  readonly cwd?: string;
  /** The tenant that the session belongs to. */
  readonly tenant?: string;
  /** The user that the session belongs to. */
  readonly user?: string;
  /** Data of the application, as given when the session was created. */
  readonly metadata?: JsonObject;
  /** The session and entry that it was forked from, if any. */
  readonly parent?: SessionHeader["parent"];
  /** The title. */
  readonly title?: string;
  /** The beginning of the first user message. */
  readonly firstPrompt?: string;
  /** The model that was used last. */
  readonly model?: ModelSpec;
  /** Number of entries. */
  readonly entries: number;
  /** Number of entries that are messages. */
  readonly messages: number;
  /** Id of the leaf; `null` if there is none. */
  readonly leafId: string | null;
  /** Token counts of all entries, on all branches. */
  readonly usage: Usage;
  /** Cost of all entries, on all branches. */
  readonly cost: Cost;
  /** Size of the log, in bytes; 0 in a store without files. */
  readonly bytes: number;
  /** The reason why the session cannot be opened, if it cannot. */
  readonly problem?: string;
}

/** Options for {@linkcode SessionStore.create}. */
export interface CreateSessionOptions {
  /** Id of the session: any text of 1 to 200 characters. Default: the current time with a random suffix. */
  readonly id?: string | undefined;
  /** Time of creation, in milliseconds since the epoch. Default: the current time. */
  readonly created?: number | undefined;
  /** Working directory of the session. */
  readonly cwd?: string | undefined;
  /** The tenant that the session belongs to, such as the id of a customer. */
  readonly tenant?: string | undefined;
  /** The user that the session belongs to. */
  readonly user?: string | undefined;
  /** Data of the application; a JSON object of at most 65,536 characters. */
  readonly metadata?: JsonObject | undefined;
  /** The session and entry that it was forked from, if any. */
  readonly parent?: SessionHeader["parent"] | undefined;
  /** Initial entries; their ids, parents and timestamps are kept. */
  readonly entries?: readonly SessionEntry[] | undefined;
}

/** Selects sessions by what they had when they were created. */
export interface SessionFilter {
  /** Working directory of the sessions. Default: any. */
  readonly cwd?: string | undefined;
  /** Tenant of the sessions. Default: any. */
  readonly tenant?: string | undefined;
  /** User of the sessions. Default: any. */
  readonly user?: string | undefined;
  /** Members that the metadata of the sessions have, with the same values. Default: any. */
  readonly metadata?: SessionMetadataFilter | undefined;
}

/** Selects sessions by members of their metadata. A name and its value have at most 1,000 characters as JSON. */
export type SessionMetadataFilter = {
  readonly [name: string]: string | number | boolean | null;
};

/** Options for {@linkcode SessionStore.list}. */
export interface ListSessionsOptions extends SessionFilter {
  /** Maximum number of sessions. Default: no limit. */
  readonly limit?: number | undefined;
  /** The `cursor` of the previous page; the list continues after its last session. Default: the first page. */
  readonly cursor?: string | undefined;
}

/** A page of sessions, most recently written first. */
export interface SessionPage extends ReadonlyArray<SessionSummary> {
  /** Continues the list after the last session of this page; missing on the last page. */
  readonly cursor?: string;
}

/** Options for {@linkcode SessionStore.deleteAll}. */
export interface DeleteSessionsOptions extends SessionFilter {
  /** Only sessions that were created and written last before this time, in milliseconds since the epoch. Default: any. */
  readonly updatedBefore?: number | undefined;
}

/** Options for {@linkcode SessionStore.search}. */
export interface SearchSessionsOptions extends SessionFilter {
  /** Id of the session to search. Default: all sessions. */
  readonly sessionId?: string | undefined;
  /** Types of the entries to search. Default: all. */
  readonly types?: readonly SessionEntryType[] | undefined;
  /** Earliest timestamp of the entries, in milliseconds since the epoch. Default: no limit. */
  readonly after?: number | undefined;
  /** End of the time range, exclusive, in milliseconds since the epoch. Default: no limit. */
  readonly before?: number | undefined;
  /** Maximum number of hits. Default: 50. */
  readonly limit?: number | undefined;
  /** The `cursor` of the previous page; the search continues after its last hit. Default: the first page. */
  readonly cursor?: string | undefined;
  /** Ends the search early; the hits found so far are returned. */
  readonly signal?: AbortSignal | undefined;
}

/** An entry that matches a search. */
export interface SearchHit {
  /** Id of the session. */
  readonly sessionId: string;
  /** Id of the entry. */
  readonly entryId: string;
  /** Type of the entry. */
  readonly type: SessionEntryType;
  /** Time of the entry, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** The text around the first match, on one line. */
  readonly snippet: string;
}

/** A page of search hits. */
export interface SearchPage extends ReadonlyArray<SearchHit> {
  /** Continues the search after the last hit of this page; missing on the last page. */
  readonly cursor?: string;
}

/**
 * Persists sessions. All methods reject with a `SessionError`.
 *
 * `testSessionStore()` of `@swink/agent/testing` tests an implementation.
 */
export interface SessionStore {
  /** Creates a session and opens it for writing. A session without entries is not persisted. */
  create(options?: CreateSessionOptions): Promise<Session>;
  /** Opens a session. Default of `access`: `"write"`. */
  open(id: string, options?: { readonly access?: SessionAccess }): Promise<Session>;
  /** Lists the sessions, most recently written first. */
  list(options?: ListSessionsOptions): Promise<SessionPage>;
  /**
   * Finds entries in which each word of the query is the beginning of a word, ignoring case. Hits are ordered by
   * session, most recently written first, then by the order of the log.
   */
  search(query: string, options?: SearchSessionsOptions): Promise<SearchPage>;
  /**
   * Deletes a session permanently, and those of its sub-agents, whose metadata have its id as `subAgentParentId`. Rejects
   * with the reason `locked` if one of them is open for writing.
   */
  delete(id: string): Promise<void>;
  /**
   * Deletes all sessions that match the options permanently, except those that are open for writing; resolves to the
   * ids of the deleted ones. At least one option is required.
   */
  deleteAll(options: DeleteSessionsOptions): Promise<readonly string[]>;
}
