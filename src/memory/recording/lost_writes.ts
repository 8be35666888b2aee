/**
 * Entries of a session that could not be written, also when another part of the program got the error.
 *
 * @module
 */

import type { SessionError } from "../../core/errors/errors.ts";
import type { Session } from "../../core/sessions/session.ts";
import { LiveSession } from "../store/live_session.ts";

/**
 * Finds writes that have failed. A session throws the error of a write only once, to any part of the program that appends,
 * and removes the entries that were not written: the recording must not append to what is left.
 */
export class LostWrites {
  readonly #session: Session;
  #known: SessionError | undefined;

  constructor(session: Session) {
    this.#session = session;
    this.#known = this.#findLast();
  }

  /** Whether writes have failed since those that were forgotten. */
  get exist(): boolean {
    return this.#findLast() !== this.#known;
  }

  /** Forgets the writes that have failed until now. */
  forget(): void {
    this.#known = this.#findLast();
  }

  /**
   * Checks that no write has failed since those that were forgotten.
   *
   * @throws {SessionError} The error of the write.
   */
  check(): void {
    const last = this.#findLast();
    if (last && this.exist) throw last;
  }

  /** Returns the error of the last write that failed; `undefined` also for a session of another store. */
  #findLast(): SessionError | undefined {
    return this.#session instanceof LiveSession ? this.#session.lastFailure : undefined;
  }
}
