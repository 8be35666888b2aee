/**
 * Observes what ends a thread unexpectedly.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors/errors.ts";

/** The part of Node's `process` in use. */
interface NodeProcess {
  on(type: string, listener: (value: unknown) => void): void;
}

/**
 * Calls `listener` with each exception and rejection of this worker that nothing handles, and when the worker exits. The
 * exceptions then do not end the worker.
 */
export function watchFailures(listener: (problem: string) => void): void {
  const exited = () => listener("the thread exited");
  if (!("WorkerGlobalScope" in globalThis)) {
    const { process } = globalThis as unknown as { readonly process: NodeProcess };
    process.on("uncaughtException", (error) => listener(getErrorMessage(error)));
    process.on("unhandledRejection", (reason) => listener(getErrorMessage(reason)));
    process.on("exit", exited);
  }
  // Bun has both kinds of events, and emits only these in a worker of its test runner.
  if (typeof addEventListener !== "function") return;
  addEventListener("error", (event) => {
    event.preventDefault();
    listener(getProblem(event));
  });
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    listener(getErrorMessage(event.reason));
  });
  addEventListener("unload", exited);
}

/** Returns the message of the error: that of the event contains the source code on Bun. */
function getProblem({ error, message }: ErrorEvent): string {
  return error === undefined || error === null ? message : getErrorMessage(error);
}
