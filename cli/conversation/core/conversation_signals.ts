/**
 * The signals of a conversation: Ctrl+C ends the run and not the program.
 *
 * @module
 */

import type { Host, StopSignal } from "../../host/host.ts";

/** Separates SIGINT from the signals that end the program. */
export class ConversationSignals {
  readonly #host: Pick<Host, "onStop">;
  readonly #listeners = new Set<(signal: StopSignal) => void>();
  #onInterrupt: (() => void) | undefined;
  /** Number of programs that have the terminal, and receive its SIGINT too. */
  #lent = 0;

  constructor(host: Pick<Host, "onStop">) {
    this.#host = host;
  }

  /** Calls `listener` with every signal, except for SIGINT once `divert()` was called. */
  readonly onStop = (listener: (signal: StopSignal) => void): () => void => {
    this.#listeners.add(listener);
    const stopListening = this.#host.onStop((signal) => {
      if (signal !== "SIGINT" || !this.#onInterrupt) return listener(signal);
      if (this.#lent === 0) this.#onInterrupt();
    });
    return () => {
      this.#listeners.delete(listener);
      stopListening();
    };
  };

  /** Does what a signal does, for a key. */
  send(signal: StopSignal): void {
    for (const listener of this.#listeners) listener(signal);
  }

  /** Passes SIGINT to `onInterrupt` from now on. */
  divert(onInterrupt: () => void): void {
    this.#onInterrupt = onInterrupt;
  }

  /** Ignores SIGINT while another program has the terminal. */
  async ignoreDuring<Result>(use: () => Promise<Result>): Promise<Result> {
    this.#lent++;
    try {
      return await use();
    } finally {
      this.#lent--;
    }
  }
}
