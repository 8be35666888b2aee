/**
 * Runs the reader of a document in a worker, so that a document that takes too long can be given up.
 *
 * @module
 */

import { createDeferred } from "../../core/deferred.ts";
import { AbortedError, BadRequestError } from "../../core/errors.ts";
import { getNodeProcess } from "../../platform/builtin_modules.ts";
import { startWorker } from "../../platform/worker.ts";

/** Limits for reading a document. */
export interface DocumentLimits {
  /** Maximum time in milliseconds, the first download of the package included. */
  readonly timeoutMs: number;
  /** Growth of the memory of this program, in bytes, at which a document is given up. */
  readonly maxGrowthBytes: number;
}

/** The usual limits. A small file may have gigabytes of compressed content. */
export const DOCUMENT_LIMITS: DocumentLimits = { timeoutMs: 30_000, maxGrowthBytes: 2_000_000_000 };

/** Interval at which the growth is measured. */
const MEASURE_MS = 100;

/** Options for {@linkcode requestFromWorker}. */
export interface WorkerRequestOptions {
  /** The document for messages, such as "The PDF document". */
  readonly subject: string;
  /** Ends the worker. */
  readonly signal: AbortSignal;
  /** Default: {@linkcode DOCUMENT_LIMITS}. */
  readonly limits?: DocumentLimits;
}

/**
 * Starts a worker, sends it one message and returns its reply.
 *
 * @throws {BadRequestError} When the worker fails or exceeds a limit.
 */
export async function requestFromWorker(
  module: URL,
  request: unknown,
  { subject, signal, limits = DOCUMENT_LIMITS }: WorkerRequestOptions,
): Promise<unknown> {
  const before = measureMemory();
  const worker = startWorker(module);
  const { promise, resolve, reject } = createDeferred<unknown>();
  const cancel = () => reject(new AbortedError("Reading was cancelled"));
  const timer = setTimeout(
    () => reject(createTimeoutError(subject, limits)),
    limits.timeoutMs,
  );
  const measurement = setInterval(() => {
    if (measureMemory() - before <= limits.maxGrowthBytes) return;
    reject(new BadRequestError(`${subject} takes too much memory to read`));
  }, MEASURE_MS);
  worker.onMessage(resolve);
  worker.onError((message) => reject(new BadRequestError(`${subject} cannot be read: ${message}`)));
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    worker.postMessage(request);
    return await promise;
  } finally {
    clearTimeout(timer);
    clearInterval(measurement);
    signal.removeEventListener("abort", cancel);
    worker.terminate();
  }
}

/** Creates the error for a document that takes too long. */
export function createTimeoutError(
  subject: string,
  { timeoutMs }: DocumentLimits,
): BadRequestError {
  return new BadRequestError(`${subject} takes longer than ${timeoutMs / 1_000} s to read`);
}

/** Returns the memory of this program, with its workers. Their own limits do not count the content of arrays of bytes. */
function measureMemory(): number {
  return getNodeProcess()?.memoryUsage?.rss() ?? 0;
}
