/**
 * The time limit of comparing paths with patterns of a model.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";

/** Maximum total time of the comparisons of a call, during which nothing else runs. */
const MAX_MATCHING_MS = 10_000;

/** Options for {@linkcode limitMatching}. */
export interface MatchingOptions {
  /** Name of the argument with the patterns. */
  readonly argument: string;
  /** Current time in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
}

/** Returns a function that matches paths, and throws a `BadRequestError` when that has taken ten seconds in total. */
export function limitMatching(
  matches: (path: string) => boolean,
  { argument, now = () => performance.now() }: MatchingOptions,
): (path: string) => boolean {
  let remainingMs = MAX_MATCHING_MS;
  return (path) => {
    if (remainingMs <= 0) {
      throw new BadRequestError(`${argument} takes too long: use fewer or simpler patterns`);
    }
    const start = now();
    const isMatch = matches(path);
    remainingMs -= now() - start;
    return isMatch;
  };
}
