/**
 * The part of a session store that belongs to one tenant or user.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import type {
  CreateSessionOptions,
  DeleteSessionsOptions,
  ListSessionsOptions,
  SearchPage,
  SearchSessionsOptions,
  Session,
  SessionAccess,
  SessionFilter,
  SessionPage,
  SessionStore,
} from "../../core/sessions/session.ts";
import { createAlreadyExistsError, createNotFoundError } from "../store/session_errors.ts";
import {
  checkDeleteOptions,
  checkFilter,
  checkScope,
  matchesFilter,
} from "../store/session_filter.ts";

/** The tenant, the user, or both, whose sessions a store has. */
export type SessionScope = Pick<SessionFilter, "tenant" | "user">;

/**
 * Returns a store that has only the sessions of a tenant, a user, or a user of a tenant. All others do not exist in it:
 * they are neither listed nor found, and cannot be opened, forked or deleted. Sessions that it creates belong to the scope.
 *
 * An id that a session outside of the scope has cannot be used for a new one.
 *
 * @throws {SessionError} With the reason `bad_filter` if the scope has neither a tenant nor a user.
 *
 * @example
 * ```ts
 * import { InMemorySessionStore, scopeStore } from "@swink/agent/memory";
 *
 * const store = new InMemorySessionStore();
 * const acme = scopeStore(store, { tenant: "acme" });
 * await using session = await acme.create({ id: "a" });
 * session.append({ type: "title", title: "First steps" });
 * await session.flush();
 * (await acme.list()).length; // 1
 * (await scopeStore(store, { tenant: "zoo" }).list()).length; // 0
 * ```
 */
export function scopeStore(store: SessionStore, scope: SessionScope): SessionStore {
  checkScope(scope);
  return new ScopedStore(store, scope);
}

/** Returns the store with the sessions of a scope, which is the whole store if the scope has neither a tenant nor a user. */
export function scopeSessions(store: SessionStore, { tenant, user }: SessionScope): SessionStore {
  return tenant === undefined && user === undefined ? store : scopeStore(store, { tenant, user });
}

class ScopedStore implements SessionStore {
  readonly #store: SessionStore;
  readonly #scope: SessionScope;

  constructor(store: SessionStore, { tenant, user }: SessionScope) {
    this.#store = store;
    this.#scope = { ...(tenant !== undefined && { tenant }), ...(user !== undefined && { user }) };
  }

  async create(options: CreateSessionOptions = {}): Promise<Session> {
    try {
      return await this.#store.create({ ...options, ...this.#scope });
    } catch (error) {
      throw await this.#toOwnError(error, options.id);
    }
  }

  async open(
    id: string,
    options: { readonly access?: SessionAccess } = {},
  ): Promise<Session> {
    await this.#checkSession(id);
    const session = await this.#store.open(id, options);
    if (matchesFilter(session.header, this.#scope)) return session;
    // The session was deleted meanwhile, and created again outside of the scope.
    await session.close();
    throw createNotFoundError(id);
  }

  async list(options: ListSessionsOptions = {}): Promise<SessionPage> {
    checkFilter(options, "list");
    if (!this.#overlaps(options)) return [];
    return await this.#store.list({ ...options, ...this.#scope });
  }

  async search(query: string, options: SearchSessionsOptions = {}): Promise<SearchPage> {
    checkFilter(options, "search");
    if (options.sessionId !== undefined) await this.#checkSession(options.sessionId);
    if (!this.#overlaps(options)) return [];
    return await this.#store.search(query, { ...options, ...this.#scope });
  }

  async delete(id: string): Promise<void> {
    await this.#checkSession(id);
    await this.#store.delete(id);
  }

  async deleteAll(options: DeleteSessionsOptions): Promise<readonly string[]> {
    checkDeleteOptions(options);
    if (!this.#overlaps(options)) return [];
    return await this.#store.deleteAll({ ...options, ...this.#scope });
  }

  /** Replaces the error for a session that exists outside of the scope, whose advice cannot be followed. */
  async #toOwnError(error: unknown, id: string | undefined): Promise<unknown> {
    const isTaken = error instanceof SessionError &&
      (error.reason === "already_exists" || error.reason === "locked");
    if (!isTaken || id === undefined) return error;
    const isOther = await this.#isOther(id).catch(() => false);
    return isOther ? createAlreadyExistsError(id, "use another id") : error;
  }

  /** Checks the header before the session is locked, which its writer would notice. */
  async #checkSession(id: string): Promise<void> {
    if (await this.#isOther(id)) throw createNotFoundError(id);
  }

  /** Whether a session that exists is outside of the scope. */
  async #isOther(id: string): Promise<boolean> {
    const session = await this.#store.open(id, { access: "read" });
    await session.close();
    return !matchesFilter(session.header, this.#scope);
  }

  /** Whether a filter can select sessions of the scope. */
  #overlaps({ tenant, user }: SessionFilter): boolean {
    const scope = this.#scope;
    return [[tenant, scope.tenant], [user, scope.user]].every(([wanted, own]) =>
      wanted === undefined || own === undefined || wanted === own
    );
  }
}
