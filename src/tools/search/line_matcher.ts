/**
 * Matches the lines of files in bounded time: patterns that may backtrack exponentially run in a worker with a timeout.
 *
 * @module
 */

import { createDeferred } from "../../core/deferred.ts";
import { AbortedError, BadRequestError } from "../../core/errors.ts";
import { startWorker, type WorkerThread } from "../../platform/worker.ts";
import { type LineMatch, matchLines, type MatchOptions } from "./match_lines.ts";
import type { MatchRequest } from "./match_worker.ts";
import { getPatternRisk } from "./pattern_risk.ts";

/** Matches the lines of files against one expression. */
export interface LineMatcher extends Disposable {
  /** Returns the matching lines of a file. @throws {BadRequestError} When the pattern takes more than 3 s. */
  match(bytes: Uint8Array): readonly LineMatch[] | Promise<readonly LineMatch[]>;
}

/** Timeout for each file. */
const FILE_TIMEOUT_MS = 3_000;

/** Creates a matcher. Disposing it ends its worker. */
export function createLineMatcher(options: MatchOptions, signal: AbortSignal): LineMatcher {
  if (getPatternRisk(options.expression.source).type === "exponential") {
    return new WorkerMatcher(options, signal);
  }
  return {
    match: (bytes) => matchLines(bytes, options),
    [Symbol.dispose]: () => {},
  };
}

class WorkerMatcher implements LineMatcher {
  readonly #options: MatchOptions;
  readonly #signal: AbortSignal;
  #worker: WorkerThread | undefined;

  constructor(options: MatchOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  async match(bytes: Uint8Array): Promise<readonly LineMatch[]> {
    const { expression: { source, flags }, context } = this.#options;
    const worker = this.#worker ?? await this.#startWorker();
    const request: MatchRequest = { bytes, source, flags, context };
    worker.postMessage(request);
    const reply = await this.#receive(worker, createTimeoutError(source));
    return reply as readonly LineMatch[]; // from our own worker
  }

  /** Starts the worker and waits until it is ready, so that its start does not count as the time of a match. */
  async #startWorker(): Promise<WorkerThread> {
    const worker = this.#worker = startWorker(new URL("./match_worker.ts", import.meta.url));
    await this.#receive(worker);
    return worker;
  }

  /** Receives the next message of the worker; rejects with `timeoutError`, if given, when it takes too long. */
  async #receive(worker: WorkerThread, timeoutError?: BadRequestError): Promise<unknown> {
    const { promise, resolve, reject } = createDeferred<unknown>();
    const cancel = () => reject(new AbortedError("The search was cancelled"));
    const timer = timeoutError && setTimeout(() => reject(timeoutError), FILE_TIMEOUT_MS);
    worker.onMessage(resolve);
    worker.onError((message) => reject(new BadRequestError(`The search failed: ${message}`)));
    this.#signal.addEventListener("abort", cancel, { once: true });
    if (this.#signal.aborted) cancel();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#signal.removeEventListener("abort", cancel);
    }
  }

  [Symbol.dispose](): void {
    this.#worker?.terminate();
  }
}

function createTimeoutError(source: string): BadRequestError {
  return new BadRequestError(
    `The pattern ${source} takes too long because of nested repetitions: remove the nesting or search fewer files`,
  );
}
