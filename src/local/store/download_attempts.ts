/**
 * The attempts of a download whose connection is lost.
 *
 * @module
 */

import { AgentError } from "../../core/errors/errors.ts";

/** Waits before the attempts after the first one, in milliseconds. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000, 16_000] as const;
/** Longest wait that a hub can ask for, in milliseconds. */
const MAX_WAIT_MS = 60_000;
/** Bytes of progress after which a connection counts as a good one. */
const PROGRESS_BYTES = 1_000_000;

/**
 * Counts the attempts of a download. A good connection makes all of them available again, so that their number is limited
 * by the size of the file.
 */
export class DownloadAttempts {
  #failures = 0;
  /** Bytes at the end of the last good connection. */
  #base: number | undefined;
  /** Most bytes that were present. */
  #farthest = 0;

  /** Adds the progress of a connection. */
  addProgress(receivedBytes: number): void {
    this.#base ??= receivedBytes;
    this.#farthest = Math.max(this.#farthest, receivedBytes);
  }

  /**
   * Returns the wait before the next attempt in milliseconds; `undefined` if there is none: after too many failures, if
   * another attempt would fail, too, or if no connection has sent content, so that the user does not wait for the error.
   */
  getWait(error: unknown): number | undefined {
    if (this.#base === undefined || !AgentError.is(error) || !error.retryable) return undefined;
    if (this.#farthest - this.#base >= PROGRESS_BYTES) {
      this.#failures = 0;
      this.#base = this.#farthest;
    }
    const wait = WAITS_MS[this.#failures++];
    return wait && Math.max(wait, Math.min(error.retryAfterMs ?? 0, MAX_WAIT_MS));
  }
}
