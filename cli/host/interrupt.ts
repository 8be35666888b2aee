/**
 * Handling of stop signals: the first one aborts the run, the second one exits immediately.
 *
 * @module
 */

import { ExitCode } from "./exit_code.ts";
import type { Host, StopSignal } from "./host.ts";

/** Listens for stop signals until it is disposed of. */
export class InterruptHandler implements Disposable {
  readonly #controller = new AbortController();
  readonly #stopListening: () => void;
  #received: StopSignal | undefined;

  constructor(host: Pick<Host, "onStop" | "exit">) {
    this.#stopListening = host.onStop((signal) => {
      if (this.#received) return host.exit(toExitCode(signal));
      this.#received = signal;
      this.#controller.abort(signal);
    });
  }

  /** Aborted by the first signal, with the name of the signal as its reason. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Exit code for the received signal; `undefined` before a signal. */
  get exitCode(): ExitCode | undefined {
    return this.#received && toExitCode(this.#received);
  }

  /** Stops listening. */
  [Symbol.dispose](): void {
    this.#stopListening();
  }
}

function toExitCode(signal: StopSignal): ExitCode {
  return signal === "SIGINT" ? ExitCode.interrupted : ExitCode.terminated;
}
