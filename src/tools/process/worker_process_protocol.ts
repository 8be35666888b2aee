/**
 * The messages between a program and the process of a worker.
 *
 * @module
 */

/** First argument that makes the compiled `swink` the process of a worker. */
export const WORKER_ARGUMENT = "--swink-worker";

/** The last argument of the process, as JSON. */
export interface WorkerProcessSettings {
  /** Module of the worker, relative to the directory of the library's modules. */
  readonly module: string;
  /** Growth of the memory of the process, in bytes, at which it ends. */
  readonly maxGrowthBytes: number;
}

/** A frame on the standard output of the process: a message of the worker, or the message of an error that ended it. */
export type WorkerProcessReply =
  | { readonly type: "message"; readonly message: unknown }
  | { readonly type: "error"; readonly message: string };

/** Exit code of a process that has taken too much memory. */
export const MEMORY_EXIT_CODE = 86;
