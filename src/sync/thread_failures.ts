/**
 * Observes what ends a thread unexpectedly.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors.ts";

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
    return;
  }
  addEventListener("error", (event) => {
    event.preventDefault();
    listener(event.message);
  });
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    listener(getErrorMessage(event.reason));
  });
  addEventListener("unload", exited);
}
