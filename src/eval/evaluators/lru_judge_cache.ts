/**
 * A cache for the answers of judges with a maximum number of entries.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { JudgeCache } from "./judge_evaluator.ts";

/** Options for `LruJudgeCache`. */
export interface LruJudgeCacheOptions {
  /** Maximum number of answers. Default: 10,000. */
  readonly maxEntries?: number | undefined;
}

/**
 * Keeps the answers of judges in memory, and evicts the one that was not used for the longest time.
 *
 * @example
 * ```ts
 * import { LruJudgeCache } from "@swink/agent/eval";
 *
 * const cache = new LruJudgeCache({ maxEntries: 1 });
 * cache.set("a", "1");
 * cache.set("b", "2");
 * cache.get("a"); // undefined
 * ```
 */
export class LruJudgeCache implements JudgeCache {
  readonly #maxEntries: number;
  /** The answers, the least recently used one first. */
  readonly #answers = new Map<string, string>();

  /**
   * Creates an empty cache.
   *
   * @throws {BadRequestError} If an option is unknown, or `maxEntries` is not a whole number of at least 1.
   */
  constructor(options: LruJudgeCacheOptions = {}) {
    checkNames(options, ["maxEntries"], "new LruJudgeCache()");
    const { maxEntries = 10_000 } = options;
    if (!Number.isInteger(maxEntries) || maxEntries < 1) {
      throw new BadRequestError(
        `maxEntries must be a whole number of at least 1, not ${maxEntries}`,
      );
    }
    this.#maxEntries = maxEntries;
  }

  /** Number of answers. */
  get size(): number {
    return this.#answers.size;
  }

  /** Returns an answer, if there is one. */
  get(key: string): string | undefined {
    const answer = this.#answers.get(key);
    if (answer !== undefined) this.set(key, answer);
    return answer;
  }

  /** Keeps an answer, and evicts the least recently used one if there are too many. */
  set(key: string, answer: string): void {
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > this.#maxEntries && oldest !== undefined) this.#answers.delete(oldest);
  }
}
