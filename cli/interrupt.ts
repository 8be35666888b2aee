/**
 * Stopping on request: the first signal ends the work cleanly, the second one leaves at once.
 *
 * @module
 */

import { ExitCode } from "./exit_code.ts";
import type { Host, StopSignal } from "./host.ts";

/** Watches for signals while it is in scope. */
export class InterruptHandler implements Disposable {
  readonly #controller = new AbortController();
  readonly #stopListening: () => void;
  #received: StopSignal | undefined;

  /** Begins to watch. */
  constructor(host: Pick<Host, "onStop" | "exit">) {
    this.#stopListening = host.onStop((signal) => {
      if (this.#received) return host.exit(toExitCode(signal));
      this.#received = signal;
      this.#controller.abort(signal);
    });
  }

  /** Fires at the first signal; its reason is the signal's name. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What to exit with, once a signal has come. */
  get exitCode(): ExitCode | undefined {
    return this.#received && toExitCode(this.#received);
  }

  /** Stops to watch. */
  [Symbol.dispose](): void {
    this.#stopListening();
  }
}

function toExitCode(signal: StopSignal): ExitCode {
  return signal === "SIGINT" ? ExitCode.interrupted : ExitCode.terminated;
}
