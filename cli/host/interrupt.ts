/**
 * Handling of stop signals: the first one aborts the run, a later SIGINT exits immediately.
 *
 * @module
 */

import { AbortedError } from "../../src/core/errors/errors.ts";
import { ConfigurationError } from "./cli_error.ts";
import { ExitCode } from "./exit_code.ts";
import type { Host, StopSignal } from "./host.ts";

/**
 * Time within which signals count as one: a terminal that closes, `timeout` and `deno task` send a signal to the program
 * and to its process group.
 */
const REPEAT_MS = 500;

/** Maximum time that the cleanup may take before an immediate exit. */
const CLEANUP_MS = 1_000;

/** Listens for stop signals until it is disposed of. */
export class InterruptHandler implements Disposable {
  readonly #host: Pick<Host, "onStop" | "exit" | "now">;
  readonly #controller = new AbortController();
  readonly #stopListening: () => void;
  #received: { readonly signal: StopSignal; readonly at: number } | undefined;
  readonly #cleanUps = new Set<() => PromiseLike<void>>();

  constructor(host: Pick<Host, "onStop" | "exit" | "now">) {
    this.#host = host;
    this.#stopListening = host.onStop((signal) => this.#onSignal(signal));
  }

  /** Aborted by the first signal, with the name of the signal as its reason. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Exit code for the received signal; `undefined` before a signal. */
  get exitCode(): ExitCode | undefined {
    return this.#received && toExitCode(this.#received.signal);
  }

  /** Returns the result of an action, or the exit code of the signal that has interrupted it, such as a key command. */
  async catchInterruption<Result>(action: () => Promise<Result>): Promise<Result | ExitCode> {
    try {
      return await action();
    } catch (error) {
      const { exitCode } = this;
      const isInterrupted = error instanceof ConfigurationError || error instanceof AbortedError;
      if (isInterrupted && exitCode !== undefined) return exitCode;
      throw error;
    }
  }

  /** Calls `cleanUp` before an immediate exit, which waits for it for up to one second. Returns a function that undoes this. */
  beforeExit(cleanUp: () => PromiseLike<void>): () => void {
    this.#cleanUps.add(cleanUp);
    return () => void this.#cleanUps.delete(cleanUp);
  }

  /** Stops listening. */
  [Symbol.dispose](): void {
    this.#stopListening();
  }

  #onSignal(signal: StopSignal): void {
    const at = this.#host.now();
    if (!this.#received) {
      this.#received = { signal, at };
      return this.#controller.abort(signal);
    }
    if (signal === "SIGINT" && at - this.#received.at >= REPEAT_MS) void this.#exit();
  }

  async #exit(): Promise<void> {
    const { promise: timeout, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, CLEANUP_MS);
    const cleanup = Promise.allSettled(Array.from(this.#cleanUps, (cleanUp) => cleanUp()));
    await Promise.race([cleanup, timeout]);
    clearTimeout(timer);
    this.#host.exit(ExitCode.interrupted);
  }
}

function toExitCode(signal: StopSignal): ExitCode {
  return EXIT_CODES[signal];
}

const EXIT_CODES: Readonly<Record<StopSignal, ExitCode>> = {
  SIGHUP: ExitCode.hangUp,
  SIGINT: ExitCode.interrupted,
  SIGQUIT: ExitCode.quit,
  SIGTERM: ExitCode.terminated,
};
