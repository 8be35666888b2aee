/**
 * The leases of a store that may not have ended in its storage.
 *
 * @module
 */

import type { EntryStorage } from "./entry_storage.ts";

/** Options for {@linkcode UnreleasedLeases}. */
export interface UnreleasedLeasesOptions {
  /** Duration of a lease, in milliseconds. */
  readonly durationMs: number;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
}

/** Maximum number of released leases of a session that are remembered. */
const MAX_RELEASED = 100;

/**
 * The leases of a store whose request or release has failed: the storage may have granted one without an answer. Each would
 * refuse the next writer of its session, also this store, for the rest of its duration.
 */
export class UnreleasedLeases {
  readonly #unreleased: TokenLists;
  /** Those that were released, whose requests may reach the storage later than they have failed. */
  readonly #released: TokenLists;

  constructor(options: UnreleasedLeasesOptions) {
    this.#unreleased = new TokenLists({ ...options, limit: Infinity });
    this.#released = new TokenLists({ ...options, limit: MAX_RELEASED });
  }

  /** Number of sessions with such leases. */
  get size(): number {
    return this.#unreleased.size;
  }

  /** Adds a lease whose request or release has failed. */
  add(sessionId: string, token: string): void {
    this.#unreleased.add(sessionId, token);
  }

  /** Adds a lease that was released, and whose renewal may be granted later. */
  addReleased(sessionId: string, token: string): void {
    this.#released.add(sessionId, token);
  }

  /** Releases the leases of a session. @throws If the storage fails. */
  async release(storage: Pick<EntryStorage, "release">, sessionId: string): Promise<void> {
    for (const token of this.#unreleased.list(sessionId)) {
      await storage.release(sessionId, token);
      this.#unreleased.remove(sessionId, token);
      this.#released.add(sessionId, token);
    }
  }

  /**
   * Releases leases of a session again, which may have been granted since. Resolves to `false` if there are none.
   *
   * @throws If the storage fails.
   */
  async releaseAgain(storage: Pick<EntryStorage, "release">, sessionId: string): Promise<boolean> {
    const tokens = this.#released.list(sessionId);
    for (const token of tokens) await storage.release(sessionId, token);
    return tokens.length > 0;
  }
}

/** The leases of a session. */
interface SessionTokens {
  readonly tokens: Set<string>;
  /** Time at which the last one was added. */
  readonly addedAt: number;
}

/** The leases of sessions, until they have ended. */
class TokenLists {
  readonly #options: UnreleasedLeasesOptions & { readonly limit: number };
  /** The leases by session, the one that was changed last at the end. */
  readonly #sessions = new Map<string, SessionTokens>();

  constructor(options: UnreleasedLeasesOptions & { readonly limit: number }) {
    this.#options = options;
  }

  get size(): number {
    return this.#sessions.size;
  }

  list(sessionId: string): readonly string[] {
    this.#removeEnded();
    return [...this.#sessions.get(sessionId)?.tokens ?? []];
  }

  /** Adds a lease; removes the oldest one of the session above the limit. */
  add(sessionId: string, token: string): void {
    this.#removeEnded();
    const { tokens } = this.#sessions.get(sessionId) ?? { tokens: new Set() };
    tokens.add(token);
    const [oldest = token] = tokens;
    if (tokens.size > this.#options.limit) tokens.delete(oldest);
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, { tokens, addedAt: this.#options.now() });
  }

  remove(sessionId: string, token: string): void {
    const tokens = this.#sessions.get(sessionId)?.tokens;
    tokens?.delete(token);
    if (tokens?.size === 0) this.#sessions.delete(sessionId);
  }

  /** Removes the leases that have ended. A request may reach the storage later than it has failed. */
  #removeEnded(): void {
    const now = this.#options.now();
    for (const [sessionId, { addedAt }] of this.#sessions) {
      if (now - addedAt < 2 * this.#options.durationMs) return;
      this.#sessions.delete(sessionId);
    }
  }
}
