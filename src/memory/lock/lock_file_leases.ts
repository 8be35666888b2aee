/**
 * Leases of the writers of a store that only the processes of one machine use.
 *
 * @module
 */

import type { LeaseRequest, LeaseResult } from "../storage/entry_storage.ts";
import type { LockStorage } from "./lock_storage.ts";
import {
  acquireWriterLock,
  createHeartbeats,
  findLockOwner,
  getLockPath,
  type WriterLock,
} from "./writer_lock.ts";

/** Leases in lock files, which the system releases when a process ends. */
export class LockFileLeases {
  readonly #storage: LockStorage;
  readonly #directory: string;
  readonly #now: () => number;
  readonly #heartbeats = createHeartbeats();
  readonly #locks = new Map<string, WriterLock>();

  constructor(storage: LockStorage, directory: string, now: () => number) {
    this.#storage = storage;
    this.#directory = directory;
    this.#now = now;
  }

  /** Grants a lease, or returns its owner. */
  async lease(sessionId: string, { token, owner: { name } }: LeaseRequest): Promise<LeaseResult> {
    const place = { directory: this.#directory, sessionId };
    if (this.#locks.has(token)) {
      if (this.isHeld(token)) return { type: "granted" };
      return { type: "refused", owner: findLockOwner(this.#storage, getLockPath(place)) };
    }
    this.#storage.makeDirectory(this.#directory);
    const result = await acquireWriterLock({
      ...place,
      storage: this.#storage,
      now: this.#now,
      name,
      heartbeats: this.#heartbeats,
    });
    if (result.type === "refused") return result;
    this.#locks.set(token, result.lock);
    return { type: "granted" };
  }

  /** Whether a lease has not been taken over. */
  isHeld(token: string): boolean {
    return this.#locks.get(token)?.isHeld() ?? false;
  }

  /** Ends a lease. */
  release(token: string): void {
    this.#locks.get(token)?.release();
    this.#locks.delete(token);
  }

  /** Ends all leases. */
  close(): void {
    for (const token of this.#locks.keys()) this.release(token);
  }
}
