/**
 * The machine as the program sees it; tests bring their own.
 *
 * @module
 */

import { createDenoTerminal, type Terminal } from "./terminal.ts";

/** A signal by which the program is asked to stop. */
export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Everything of the machine that the program uses, except for what the tools do. */
export interface Host {
  /** Where it reads and writes. */
  readonly terminal: Terminal;
  /** Sends requests to the model. */
  readonly fetch: typeof fetch;
  /** Reads one variable of the environment. */
  readonly env: (name: string) => string | undefined;
  /** Tells `listener` when the program is asked to stop; returns how to end that. */
  readonly onStop: (listener: (signal: StopSignal) => void) => () => void;
  /** Leaves at once. */
  readonly exit: (code: number) => void;
}

/** The machine that this process runs on. */
export function createDenoHost(): Host {
  return {
    terminal: createDenoTerminal(),
    fetch: (...request) => fetch(...request),
    env: (name) => Deno.env.get(name),
    onStop: listenForSignals,
    exit: (code) => Deno.exit(code),
  };
}

const STOP_SIGNALS: readonly StopSignal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

function listenForSignals(listener: (signal: StopSignal) => void): () => void {
  const handlers = STOP_SIGNALS.map((signal) => [signal, () => listener(signal)] as const);
  for (const [signal, handler] of handlers) Deno.addSignalListener(signal, handler);
  return () => {
    for (const [signal, handler] of handlers) Deno.removeSignalListener(signal, handler);
  };
}
