/**
 * Sessions in memory.
 *
 * @module
 */

import type {
  CreateSessionOptions,
  DeleteSessionsOptions,
  ListSessionsOptions,
  SearchPage,
  SearchSessionsOptions,
  Session,
  SessionAccess,
  SessionPage,
  SessionStore,
} from "../../core/session.ts";
import { createMemoryStorage } from "./memory_storage.ts";
import { storeFrom } from "./store_from.ts";

/** Options for {@linkcode InMemorySessionStore}. */
export interface InMemorySessionStoreOptions {
  /** The clock, in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Creates ids for entries. Default: twelve random letters and digits. */
  readonly newId?: () => string;
}

/**
 * Keeps sessions in memory until the program ends, for tests and hosts without storage.
 *
 * @example
 * ```ts
 * import { InMemorySessionStore } from "@swink/agent/memory";
 *
 * const store = new InMemorySessionStore();
 * await using session = await store.create({ id: "notes" });
 * session.append({ type: "title", title: "Notes" });
 * await session.flush();
 * (await store.list())[0]?.title; // "Notes"
 * ```
 */
export class InMemorySessionStore implements SessionStore {
  readonly #store: SessionStore;

  /** Creates an empty store. */
  constructor(options: InMemorySessionStoreOptions = {}) {
    // A writer in this process ends with its sessions, so that its lease needs no renewal.
    this.#store = storeFrom(createMemoryStorage(), { ...options, leaseMs: Infinity });
  }

  /** Creates a session, open for writing. */
  create(options: CreateSessionOptions = {}): Promise<Session> {
    return this.#store.create(options);
  }

  /** Opens a session. */
  open(id: string, options: { readonly access?: SessionAccess } = {}): Promise<Session> {
    return this.#store.open(id, options);
  }

  /** Lists the sessions, most recently written first. */
  list(options: ListSessionsOptions = {}): Promise<SessionPage> {
    return this.#store.list(options);
  }

  /** Searches all entries. */
  search(query: string, options: SearchSessionsOptions = {}): Promise<SearchPage> {
    return this.#store.search(query, options);
  }

  /** Deletes a session. */
  delete(id: string): Promise<void> {
    return this.#store.delete(id);
  }

  /** Deletes the sessions that match, except those that are open for writing. */
  deleteAll(options: DeleteSessionsOptions): Promise<readonly string[]> {
    return this.#store.deleteAll(options);
  }
}
