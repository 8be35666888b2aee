/**
 * Workers: those of the web platform, which Deno, Bun and browsers have, or the worker threads of Node.
 *
 * @module
 */

import { BadRequestError } from "../core/errors.ts";

/** A started worker. */
export interface WorkerThread {
  /** Sends a message to the worker, by a structured clone. */
  postMessage(message: unknown): void;
  /** Ends the worker. */
  terminate(): void;
}

/** The thread that started a worker, in the worker. */
export interface ParentThread {
  /** Sets the function that is called with each message. */
  onMessage(listener: (message: unknown) => void): void;
}

/** The part of `node:worker_threads` in use. */
interface WorkerThreads {
  readonly Worker: new (module: URL) => WorkerThread;
  readonly parentPort: { on(type: "message", listener: (message: unknown) => void): void } | null;
}

/**
 * Starts a worker with a module.
 *
 * @throws {BadRequestError} If the runtime has no workers.
 */
export function startWorker(module: URL): WorkerThread {
  if (typeof Worker !== "undefined") return new Worker(module, { type: "module" });
  const threads = findWorkerThreads();
  if (!threads) throw new BadRequestError("this runtime has no workers");
  return new threads.Worker(module);
}

/** Returns the thread that started this worker. */
export function getParentThread(): ParentThread {
  const port = isWebWorker() ? undefined : findWorkerThreads()?.parentPort;
  if (port) return { onMessage: (listener) => port.on("message", listener) };
  return {
    onMessage: (listener) =>
      addEventListener("message", (event) => listener((event as MessageEvent<unknown>).data)),
  };
}

/** Whether this thread is a worker of the web platform. */
export function isWebWorker(): boolean {
  return "WorkerGlobalScope" in globalThis;
}

/** Loads the module without an `import`, so that bundlers for browsers can bundle this one. */
function findWorkerThreads(): WorkerThreads | undefined {
  const { process } = globalThis as {
    readonly process?: { getBuiltinModule?(name: string): unknown };
  };
  return process?.getBuiltinModule?.("node:worker_threads") as WorkerThreads | undefined;
}
