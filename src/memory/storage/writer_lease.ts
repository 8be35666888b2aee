/**
 * The lease of a session's writer in a storage.
 *
 * @module
 */

import type { SessionError, SessionOwner } from "../../core/errors/errors.ts";
import { createLockedError, createLockLostError } from "../store/session_errors.ts";
import type { EntryStorage, LeaseRequest, LeaseResult } from "./entry_storage.ts";
import type { SharedInterval } from "./shared_interval.ts";
import type { UnreleasedLeases } from "./unreleased_leases.ts";

/** Options for {@linkcode acquireLease}. */
export interface WriterLeaseOptions {
  /** The storage. */
  readonly storage: EntryStorage;
  /** Id of the session. */
  readonly sessionId: string;
  /** Creates the request for the lease and for each of its renewals. */
  readonly createRequest: () => LeaseRequest;
  /** Renews the leases of the store. */
  readonly renewals: SharedInterval;
  /** The leases of the store that may not have ended. */
  readonly unreleased: UnreleasedLeases;
}

/**
 * Acquires the lease of a session. Earlier ones of the same store whose request or release has failed end first, since they
 * would refuse this one for the rest of their duration.
 *
 * @throws {SessionError} With the reason `locked` if another writer has it.
 */
export async function acquireLease(options: WriterLeaseOptions): Promise<WriterLease> {
  const { storage, sessionId, unreleased } = options;
  await unreleased.release(storage, sessionId);
  const request = options.createRequest();
  let result = await requestLease(options, request);
  if (result.type === "refused" && await unreleased.releaseAgain(storage, sessionId)) {
    result = await requestLease(options, request);
  }
  if (result.type === "refused") throw createLockedError(sessionId, result.owner);
  return new WriterLease(request.token, options);
}

/** Requests a lease. The storage may have granted it although the request fails, as when a connection is lost. */
async function requestLease(
  { storage, sessionId, unreleased }: WriterLeaseOptions,
  request: LeaseRequest,
): Promise<LeaseResult> {
  try {
    return await storage.lease(sessionId, request);
  } catch (error) {
    unreleased.add(sessionId, request.token);
    throw error;
  }
}

/** A lease, until it is released or another writer has it. */
export class WriterLease {
  /** Identifies the lease. */
  readonly token: string;
  readonly #options: WriterLeaseOptions;
  readonly #stopRenewals: () => void;
  /** The renewal that is under way. A release must not overtake it, or it would grant the lease again. */
  #renewal: Promise<void> | undefined;
  #releasing: Promise<void> | undefined;
  /** Whether a renewal has failed, which may reach the storage after the release. */
  #hasLateRenewal = false;
  #newOwner: SessionOwner | undefined;
  /** Why the session has to be opened again: it may have entries that this writer does not know. */
  #loss: SessionError | undefined;

  constructor(token: string, options: WriterLeaseOptions) {
    this.token = token;
    this.#options = options;
    this.#stopRenewals = options.renewals.add(() => this.#renew());
  }

  /**
   * Performs a write that the storage refuses, by resolving to `false`, if another writer has the lease. The lease is
   * released then, and never acquired again.
   *
   * @throws {SessionError} With the reason `lock_lost` if it is refused.
   */
  async use(write: (token: string) => Promise<boolean>): Promise<void> {
    if (this.#loss) throw this.#loss;
    if (await write(this.token)) return;
    // One that began before the write may not know the new owner.
    await this.#renewal;
    await this.#renew();
    this.#loss ??= createLockLostError(this.#options.sessionId, this.#newOwner);
    await this.release();
    throw this.#loss;
  }

  /** Releases the lease. Never rejects: a lease that is not renewed ends. */
  release(): Promise<void> {
    this.#releasing ??= this.#release();
    return this.#releasing;
  }

  async #release(): Promise<void> {
    this.#stopRenewals();
    await this.#renewal;
    const { storage, sessionId, unreleased } = this.#options;
    try {
      await storage.release(sessionId, this.token);
      if (this.#hasLateRenewal) unreleased.addReleased(sessionId, this.token);
    } catch {
      // The lease ends when its duration has passed, or before the store opens the session again.
      unreleased.add(sessionId, this.token);
    }
  }

  /** Renews the lease, unless it is being renewed or is released. Never rejects. */
  #renew(): Promise<void> {
    if (this.#releasing) return this.#renewal ?? Promise.resolve();
    this.#renewal ??= this.#requestRenewal();
    return this.#renewal;
  }

  async #requestRenewal(): Promise<void> {
    const { storage, sessionId, createRequest } = this.#options;
    try {
      // In a later microtask, so that a storage that throws at once does not end the renewal before it is assigned.
      await Promise.resolve();
      const result = await storage.lease(sessionId, { ...createRequest(), token: this.token });
      if (result.type === "granted") return;
      this.#newOwner = result.owner;
      this.#stopRenewals();
      this.#loss ??= createLockLostError(sessionId, result.owner);
    } catch {
      // The next renewal or write reports a storage that cannot be reached.
      this.#hasLateRenewal = true;
    } finally {
      // At once: a renewal that is requested from now on is a new one.
      this.#renewal = undefined;
    }
  }
}
