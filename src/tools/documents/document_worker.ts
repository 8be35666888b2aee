/**
 * Runs the reader of a document in a worker, so that a document that takes too long can be given up.
 *
 * @module
 */

import { createDeferred } from "../../core/deferred.ts";
import { AbortedError, BadRequestError } from "../../core/errors.ts";
import { startWorker } from "../../platform/worker.ts";

/** Time limit for one document, the first download of the package included. */
const TIMEOUT_MS = 30_000;

/** Options for {@linkcode requestFromWorker}. */
export interface WorkerRequestOptions {
  /** The document for messages, such as "The PDF document". */
  readonly subject: string;
  /** Ends the worker. */
  readonly signal: AbortSignal;
}

/**
 * Starts a worker, sends it one message and returns its reply.
 *
 * @throws {BadRequestError} When the worker fails or takes longer than 30 s.
 */
export async function requestFromWorker(
  module: URL,
  request: unknown,
  { subject, signal }: WorkerRequestOptions,
): Promise<unknown> {
  const worker = startWorker(module);
  const { promise, resolve, reject } = createDeferred<unknown>();
  const cancel = () => reject(new AbortedError("Reading was cancelled"));
  const timer = setTimeout(
    () => reject(new BadRequestError(`${subject} takes longer than 30 s to read`)),
    TIMEOUT_MS,
  );
  worker.onMessage(resolve);
  worker.onError((message) => reject(new BadRequestError(`${subject} cannot be read: ${message}`)));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    worker.postMessage(request);
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
    worker.terminate();
  }
}
