/**
 * The system that the program runs on, as an interface that tests implement.
 *
 * @module
 */

import { createDenoTerminal, type Terminal } from "./terminal.ts";

/** A signal that stops the program. */
export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGQUIT";

/** Everything outside of the process that the program uses; its tools access files and commands directly. */
export interface Host {
  /** Standard input, output and error. */
  readonly terminal: Terminal;
  /** Sends requests to the provider. */
  readonly fetch: typeof fetch;
  /** Returns the current time, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns the milliseconds since any time, which a change of the system's clock does not affect. */
  readonly elapsed: () => number;
  /** Reads an environment variable. */
  readonly env: (name: string) => string | undefined;
  /** Calls `listener` with every stop signal; returns a function that removes the listener. */
  readonly onStop: (listener: (signal: StopSignal) => void) => () => void;
  /** Exits immediately. */
  readonly exit: (code: number) => void;
}

/** Creates the host of this process. */
export function createDenoHost(): Host {
  const terminal = createDenoTerminal();
  return {
    terminal,
    fetch: (...request) => fetch(...request),
    now: Date.now,
    elapsed: () => performance.now(),
    env: (name) => Deno.env.get(name),
    onStop: (listener) =>
      listenForSignals((signal) => {
        // After Ctrl+C, a conversation continues; a run ends at once when it is pressed again.
        if (signal !== "SIGINT") terminal.limitWaits();
        listener(signal);
      }),
    exit: (code) => Deno.exit(code),
  };
}

function listStopSignals(): readonly StopSignal[] {
  return Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
}

function listenForSignals(listener: (signal: StopSignal) => void): () => void {
  const handlers = listStopSignals().map((signal) => [signal, () => listener(signal)] as const);
  for (const [signal, handler] of handlers) Deno.addSignalListener(signal, handler);
  return () => {
    for (const [signal, handler] of handlers) Deno.removeSignalListener(signal, handler);
  };
}
