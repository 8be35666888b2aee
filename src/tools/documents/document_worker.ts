/**
 * Runs the reader of a document in a worker, so that a document that takes too long can be given up.
 *
 * @module
 */

import { AbortedError, BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { getNodeProcess } from "../../platform/builtin_modules.ts";
import { READY_MESSAGE, startWorker, type WorkerThread } from "../../platform/worker.ts";
import { type IsolatedWorkerOptions, startIsolatedWorker } from "../process/isolated_worker.ts";
import { TaskQueue } from "../process/task_queue.ts";

/** Time limit for one document, the first download of the package included. */
const TIMEOUT_MS = 30_000;

/** Growth of this program at which a document is given up: a small file may have gigabytes of compressed content. */
const MAX_GROWTH_BYTES = 2_000_000_000;

/** Interval at which the growth is measured. */
const MEASURE_MS = 100;

/** Options for {@linkcode requestFromWorker}. */
export interface WorkerRequestOptions {
  /** The document for messages, such as "The PDF document". */
  readonly subject: string;
  /** Ends the worker. */
  readonly signal: AbortSignal;
  /** Time limit in milliseconds. Default: 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Growth of the memory of this program at which the worker is ended. Default: 2 GB. */
  readonly maxGrowthBytes?: number;
}

/** An agent may read many documents at once, each of which takes a processor and up to 2 GB. */
const MAX_PROCESSES = 2;
const requests = new TaskQueue(MAX_PROCESSES);

/** Options for {@linkcode requestFromIsolatedWorker}. */
export interface IsolatedRequestOptions
  extends Omit<WorkerRequestOptions, "maxGrowthBytes">, IsolatedWorkerOptions {}

/**
 * Starts a worker in a process of its own, sends it one message and returns its reply.
 *
 * @throws {BadRequestError} When the worker fails, takes too long or takes too much memory.
 */
export async function requestFromIsolatedWorker(
  module: URL,
  request: unknown,
  { maxGrowthBytes, ...options }: IsolatedRequestOptions,
): Promise<unknown> {
  const reply = await requests.run(
    () => requestFromWorker(startIsolatedWorker(module, { maxGrowthBytes }), request, options),
    options.signal,
  );
  const isMissing = isJsonObject(reply) && reply.type === "package_missing";
  // This program may find a package that another process does not find, such as by its configuration.
  return isMissing ? await requestFromWorker(startWorker(module), request, options) : reply;
}

/**
 * Sends a worker one message, returns its reply and ends the worker.
 *
 * @throws {BadRequestError} When the worker fails, takes too long or takes too much memory.
 */
export async function requestFromWorker(
  worker: WorkerThread,
  request: unknown,
  options: WorkerRequestOptions,
): Promise<unknown> {
  const { subject, signal, timeoutMs = TIMEOUT_MS, maxGrowthBytes = MAX_GROWTH_BYTES } = options;
  const before = measureMemory();
  const { promise, resolve, reject } = createDeferred<unknown>();
  const cancel = () => reject(new AbortedError("Reading was cancelled"));
  const timer = setTimeout(
    () =>
      reject(new BadRequestError(`${subject} takes longer than ${timeoutMs / 1_000} s to read`)),
    timeoutMs,
  );
  const measurement = setInterval(() => {
    if (measureMemory() - before <= maxGrowthBytes) return;
    reject(new BadRequestError(`${subject} takes too much memory to read`));
  }, MEASURE_MS);
  worker.onMessage((message) => {
    if (message !== READY_MESSAGE) resolve(message);
  });
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
    await worker.terminate();
  }
}

/** Returns the memory of this program, with its workers. Their own limits do not count the content of arrays of bytes. */
function measureMemory(): number {
  return getNodeProcess()?.memoryUsage?.rss() ?? 0;
}
