/**
 * Finds lines without ever hanging: harmless patterns here, the others in a thread that is ended when it takes too
 * long.
 *
 * @module
 */

import { AbortedError, BadRequestError } from "../../core/errors.ts";
import { type LineMatch, matchLines, type MatchOptions } from "./match_lines.ts";
import type { MatchRequest } from "./match_worker.ts";
import { getPatternRisk } from "./pattern_risk.ts";

/** Finds the lines of files that fit one expression. */
export interface LineMatcher extends Disposable {
  /** The lines of a file. @throws {BadRequestError} When the pattern takes too long on it. */
  match(bytes: Uint8Array): readonly LineMatch[] | Promise<readonly LineMatch[]>;
}

/** What one file may take. */
const FILE_TIMEOUT_MS = 3_000;

/** Makes a matcher. */
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
  #worker: Worker | undefined;

  constructor(options: MatchOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  async match(bytes: Uint8Array): Promise<readonly LineMatch[]> {
    const { expression: { source, flags }, context } = this.#options;
    const worker = this.#getWorker();
    const { promise, resolve, reject } = Promise.withResolvers<readonly LineMatch[]>();
    const cancel = () => reject(new AbortedError("The search was cancelled"));
    const timer = setTimeout(() => reject(createTimeoutError(source)), FILE_TIMEOUT_MS);
    worker.onmessage = ({ data }: MessageEvent<readonly LineMatch[]>) => resolve(data);
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new BadRequestError(`The pattern cannot be searched for: ${event.message}`));
    };
    this.#signal.addEventListener("abort", cancel, { once: true });
    if (this.#signal.aborted) cancel();
    const request: MatchRequest = { bytes, source, flags, context };
    worker.postMessage(request);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#signal.removeEventListener("abort", cancel);
    }
  }

  #getWorker(): Worker {
    this.#worker ??= new Worker(new URL("./match_worker.ts", import.meta.url), { type: "module" });
    return this.#worker;
  }

  [Symbol.dispose](): void {
    this.#worker?.terminate();
  }
}

function createTimeoutError(source: string): BadRequestError {
  return new BadRequestError(
    `The pattern ${source} takes too long, because a repetition stands inside of another: write it without, ` +
      "or search fewer files",
  );
}
