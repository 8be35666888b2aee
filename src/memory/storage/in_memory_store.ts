/**
 * Sessions in memory.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { createMemoryStorage } from "./memory_storage.ts";
import { StorageSessionStore } from "./storage_session_store.ts";

/** Options for {@linkcode InMemorySessionStore}. */
export interface InMemorySessionStoreOptions {
  /** The clock, in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Creates ids for entries. Default: twelve random letters and digits. */
  readonly newId?: (() => string) | undefined;
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
export class InMemorySessionStore extends StorageSessionStore {
  /**
   * Creates an empty store.
   *
   * @throws {BadRequestError} If an option is unknown.
   */
  constructor(options: InMemorySessionStoreOptions = {}) {
    checkNames(options, ["now", "newId"], "new InMemorySessionStore()");
    // A writer in this process ends with its sessions, so that its lease needs no renewal.
    super(createMemoryStorage(), { ...options, leaseMs: Infinity });
  }
}
