/**
 * Leases of the writers of a store that only this process has.
 *
 * @module
 */

import type { LeaseRequest, LeaseResult } from "../storage/entry_storage.ts";

/** Leases in memory, which end when they are released. */
export class MemoryLeases {
  readonly #requests = new Map<string, LeaseRequest>();

  /** Grants a lease, or returns its owner. */
  lease(sessionId: string, request: LeaseRequest): Promise<LeaseResult> {
    const current = this.#requests.get(sessionId);
    if (current && current.token !== request.token) {
      return Promise.resolve({ type: "refused", owner: current.owner });
    }
    this.#requests.set(sessionId, request);
    return Promise.resolve({ type: "granted" });
  }

  /** Whether a lease has not ended. */
  isHeld(token: string): boolean {
    return this.#findSession(token) !== undefined;
  }

  /** Ends a lease. */
  release(token: string): void {
    const sessionId = this.#findSession(token);
    if (sessionId !== undefined) this.#requests.delete(sessionId);
  }

  /** Ends all leases. */
  close(): void {
    this.#requests.clear();
  }

  #findSession(token: string): string | undefined {
    for (const [sessionId, request] of this.#requests) {
      if (request.token === token) return sessionId;
    }
    return undefined;
  }
}
