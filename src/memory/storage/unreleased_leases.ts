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

/** The leases of a session. */
interface SessionLeases {
  readonly tokens: Set<string>;
  /** Time of the last request or release that failed. */
  readonly failedAt: number;
}

/**
 * The leases of a store whose request or release has failed: the storage may have granted one without an answer. Each would
 * refuse the next writer of its session, also this store, for the rest of its duration.
 */
export class UnreleasedLeases {
  readonly #options: UnreleasedLeasesOptions;
  /** The leases by session, the oldest failures first. */
  readonly #sessions = new Map<string, SessionLeases>();

  constructor(options: UnreleasedLeasesOptions) {
    this.#options = options;
  }

  /** Number of sessions with such leases. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Adds a lease whose request or release has failed. */
  add(sessionId: string, token: string): void {
    const failedAt = this.#options.now();
    this.#removeEnded(failedAt);
    const tokens = this.#sessions.get(sessionId)?.tokens ?? new Set();
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, { tokens: tokens.add(token), failedAt });
  }

  /** Releases the leases of a session. @throws If the storage fails. */
  async release(storage: Pick<EntryStorage, "release">, sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (!session) return;
    for (const token of [...session.tokens]) {
      await storage.release(sessionId, token);
      session.tokens.delete(token);
    }
    if (session.tokens.size === 0 && this.#sessions.get(sessionId) === session) {
      this.#sessions.delete(sessionId);
    }
  }

  /** Removes the leases that have ended. A request may reach the storage later than it has failed. */
  #removeEnded(now: number): void {
    for (const [sessionId, { failedAt }] of this.#sessions) {
      if (now - failedAt < 2 * this.#options.durationMs) return;
      this.#sessions.delete(sessionId);
    }
  }
}
