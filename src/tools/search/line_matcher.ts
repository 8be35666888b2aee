/**
 * Finds the lines of files in bounded time: where a pattern could take long on a file, it runs in a worker with a timeout.
 *
 * @module
 */

import { AbortedError, BadRequestError } from "../../core/errors/errors.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { WorkerThread } from "../../platform/worker.ts";
import { startIsolatedWorker } from "../process/isolated_worker.ts";
import { type FileLines, findLines, mayHaveLines } from "./find_lines.ts";
import type { MatchRequest } from "./match_worker.ts";
import { type CompiledPattern, compilePattern } from "./pattern.ts";
import { getPatternRisk, type PatternRisk } from "./pattern_risk.ts";
import type { SearchPattern } from "./search_pattern.ts";

/** Finds the lines of files that match one pattern. */
export interface LineMatcher extends AsyncDisposable {
  /** Returns the matching lines of a file; `undefined` when the pattern takes too long. */
  match(
    bytes: Uint8Array,
    limits: MatchLimits,
  ): FileLines | undefined | Promise<FileLines | undefined>;
}

/** Limits for one file. */
export interface MatchLimits {
  /** Maximum number of matching lines. */
  readonly limit: number;
  /** Maximum time in a worker, in milliseconds. */
  readonly timeoutMs: number;
}

/** Maximum cost of a file on the main thread, in steps of the regular expression engine. */
const MAX_STEPS = 10_000_000;

/** Options for {@linkcode createLineMatcher}. */
export interface LineMatcherOptions {
  /** Cancels a match. */
  readonly signal: AbortSignal;
  /** Starts a worker. Default: {@linkcode startIsolatedWorker}. */
  readonly startWorker?: (module: URL) => WorkerThread;
}

/** Creates a matcher. Disposing it ends its worker. @throws {BadRequestError} When the pattern is invalid. */
export function createLineMatcher(
  pattern: SearchPattern,
  options: LineMatcherOptions,
): LineMatcher {
  return new LocalLineMatcher(pattern, options);
}

class LocalLineMatcher implements LineMatcher {
  readonly #pattern: SearchPattern;
  readonly #compiled: CompiledPattern;
  readonly #risk: PatternRisk;
  readonly #signal: AbortSignal;
  readonly #start: (module: URL) => WorkerThread;
  #worker: WorkerThread | undefined;

  constructor(
    pattern: SearchPattern,
    { signal, startWorker = startIsolatedWorker }: LineMatcherOptions,
  ) {
    this.#pattern = pattern;
    this.#compiled = compilePattern(pattern);
    this.#risk = getPatternRisk(pattern.source);
    this.#signal = signal;
    this.#start = startWorker;
  }

  match(
    bytes: Uint8Array,
    limits: MatchLimits,
  ): FileLines | undefined | Promise<FileLines | undefined> {
    const { multiline } = this.#pattern;
    if (!mayHaveLines(bytes, this.#compiled)) return { hits: [], isBinary: false };
    if (estimateSteps(bytes, this.#risk, multiline) > MAX_STEPS) {
      return this.#matchInWorker(bytes, limits);
    }
    return findLines(bytes, { pattern: this.#compiled, multiline, limit: limits.limit });
  }

  async #matchInWorker(
    bytes: Uint8Array,
    { limit, timeoutMs }: MatchLimits,
  ): Promise<FileLines | undefined> {
    const worker = this.#worker ?? await this.#startWorker();
    const request: MatchRequest = { bytes, pattern: this.#pattern, limit };
    worker.postMessage(request);
    const reply = await this.#receive(worker, timeoutMs);
    // A worker that still matches cannot be used again.
    if (reply === undefined) await this[Symbol.asyncDispose]();
    return reply as FileLines | undefined; // from our own worker
  }

  /** Starts the worker and waits until it is ready, so that its start does not count as the time of a match. */
  async #startWorker(): Promise<WorkerThread> {
    const worker = this.#worker = this.#start(new URL("./match_worker.ts", import.meta.url));
    await this.#receive(worker);
    return worker;
  }

  /** Receives the next message of the worker; `undefined` when that takes longer than `timeoutMs`. Default: no limit. */
  async #receive(worker: WorkerThread, timeoutMs?: number): Promise<unknown> {
    const { promise, resolve, reject } = createDeferred<unknown>();
    const cancel = () => reject(new AbortedError("The search was cancelled"));
    const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, timeoutMs, undefined);
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

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

/** Estimates the cost of a file: the sum over its lines, whose length the pattern's risk raises to a power. */
function estimateSteps(bytes: Uint8Array, risk: PatternRisk, multiline: boolean): number {
  switch (risk.type) {
    case "linear":
      return 0;
    case "exponential":
      return Infinity;
    case "power": {
      const power = risk.exponent + 1;
      return risk.factor * (multiline ? bytes.length ** power : sumPowers(bytes, power));
    }
  }
}

function sumPowers(bytes: Uint8Array, power: number): number {
  let steps = 0;
  for (let start = 0; start < bytes.length && steps <= MAX_STEPS;) {
    const end = bytes.indexOf(0x0a, start);
    const next = end === -1 ? bytes.length : end + 1;
    steps += (next - start) ** power;
    start = next;
  }
  return steps;
}
