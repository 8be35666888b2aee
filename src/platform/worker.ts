/**
 * Workers: those of the web platform, which Bun and browsers have, or the worker threads of Node and Deno.
 *
 * @module
 */

import { BadRequestError } from "../core/errors/errors.ts";
import { findBuiltinModule } from "./builtin_modules.ts";
import { isDeno } from "./system.ts";

/** A started worker. */
export interface WorkerThread {
  /** Sends a message to the worker, by a structured clone. */
  postMessage(message: unknown): void;
  /** Sets the function that is called with each message of the worker. */
  onMessage(listener: (message: unknown) => void): void;
  /** Sets the function that is called with the message of an error that ended the worker. */
  onError(listener: (message: string) => void): void;
  /** Ends the worker. */
  terminate(): void | Promise<void>;
}

/** First message of a worker that has loaded its modules. */
export const READY_MESSAGE = "ready";

/** The thread that started a worker, in the worker. */
export type ParentThread = Pick<WorkerThread, "postMessage" | "onMessage">;

/**
 * Starts a worker with a module.
 *
 * @throws {BadRequestError} If the runtime has no workers.
 */
export function startWorker(module: URL): WorkerThread {
  // In Deno 2.9, terminate() does not end code that never returns to the event loop. With a web worker in such code the
  // program does not end either; with a thread it does.
  if (typeof Worker !== "undefined" && !isDeno) return startWebWorker(module);
  const threads = findBuiltinModule("node:worker_threads");
  if (!threads) throw new BadRequestError("This runtime has no workers");
  // A copy of the environment would need the permission to read it.
  const worker = new threads.Worker(
    toThreadUrl(module),
    isDeno ? { env: threads.SHARE_ENV } : {},
  );
  return {
    postMessage: (message) => worker.postMessage(message),
    onMessage: (listener) => void worker.removeAllListeners("message").on("message", listener),
    onError(listener) {
      worker.removeAllListeners("error").on("error", (error: Error) => listener(error.message));
    },
    terminate: () => void worker.terminate(),
  };
}

/** Returns a URL that a thread can load. Of a package that Deno loads from a registry, it is not that of a file. */
function toThreadUrl(module: URL): URL {
  if (module.protocol === "file:" || module.protocol === "data:") return module;
  return new URL(`data:text/javascript,${encodeURIComponent(`import ${JSON.stringify(module)};`)}`);
}

function startWebWorker(module: URL): WorkerThread {
  const worker = new Worker(module, { type: "module" });
  return {
    postMessage: (message) => worker.postMessage(message),
    onMessage(listener) {
      worker.onmessage = ({ data }) => listener(data);
    },
    onError(listener) {
      worker.onerror = (event) => {
        event.preventDefault();
        listener(event.message);
      };
    },
    terminate: () => worker.terminate(),
  };
}

/** The part of the global scope of a web worker in use. */
interface WorkerScope {
  onmessage: (event: { readonly data: unknown }) => void;
  postMessage(message: unknown): void;
}

/** Returns the thread that started this worker. */
export function getParentThread(): ParentThread {
  const port = "WorkerGlobalScope" in globalThis
    ? undefined
    : findBuiltinModule("node:worker_threads")?.parentPort;
  if (port) {
    return {
      postMessage: (message) => port.postMessage(message),
      onMessage: (listener) => void port.on("message", listener),
    };
  }
  const scope = globalThis as unknown as WorkerScope;
  return {
    postMessage: (message) => scope.postMessage(message),
    onMessage(listener) {
      scope.onmessage = ({ data }) => listener(data);
    },
  };
}
