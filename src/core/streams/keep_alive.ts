/**
 * Comments in server-sent events.
 *
 * @module
 */

import type { Clock } from "../ports/ports.ts";
import { startTimer } from "../ports/start_timer.ts";

/** Default time without an event after which a comment is sent: Bun ends connections after ten seconds without data. */
export const KEEP_ALIVE_MS = 8_000;

/** Options for `new KeepAlive()`. */
export interface KeepAliveOptions {
  /** Milliseconds without an event after which a comment is sent; 0 for none. */
  readonly keepAliveMs: number;
  /** Timers. */
  readonly clock: Clock;
}

const COMMENT = new TextEncoder().encode(": keep-alive\n\n");

/**
 * Sends comments, which readers of server-sent events ignore, while a client waits, so that proxies keep its connection.
 * One timer serves all events, since each would need another one; it ends when the client does not wait.
 */
export class KeepAlive {
  readonly #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  readonly #options: KeepAliveOptions;
  #isWaiting = false;
  /** Whether an event was sent since the timer was started. */
  #hasSent = false;
  #stopTimer: (() => void) | undefined;

  /** Creates the comments of a body with a high-water mark of 0. */
  constructor(
    controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
    options: KeepAliveOptions,
  ) {
    this.#controller = controller;
    this.#options = options;
  }

  /** Notes that the client waits for an event. */
  startWait(): void {
    this.#isWaiting = true;
    if (!this.#stopTimer) this.#startTimer();
  }

  /** Notes that it gets one. */
  endWait(): void {
    this.#isWaiting = false;
    this.#hasSent = true;
  }

  /** Ends the comments. */
  stop(): void {
    this.#isWaiting = false;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #startTimer(): void {
    const { clock, keepAliveMs } = this.#options;
    if (keepAliveMs === 0) return;
    this.#stopTimer = startTimer(clock, keepAliveMs / 2, () => {
      this.#stopTimer = undefined;
      if (!this.#isWaiting) return;
      // A client that does not read has one comment at most.
      const isEmpty = (this.#controller.desiredSize ?? -1) >= 0;
      if (isEmpty && !this.#hasSent) this.#controller.enqueue(COMMENT);
      this.#hasSent = false;
      this.#startTimer();
    });
  }
}
