/**
 * Replaces the parts of a text that differ between two runs of a case.
 *
 * @module
 */

/** The prefix of the directories of runs. */
export const DIRECTORY_PREFIX = "swink_eval_";

/** Characters that end a path in the output of commands. */
const DELIMITERS = "\\s\"'`()<>";

/** Parts of the output of commands and tests that differ in each run, with their replacements. */
const VARIABLE_PARTS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // A path begins after a delimiter, so that the time is linear in the length of a text without any.
  [
    new RegExp(`(?<![^${DELIMITERS}])[^${DELIMITERS}]*${DIRECTORY_PREFIX}[A-Za-z0-9]+`, "g"),
    "<directory>",
  ],
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi, "<id>"],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g, "<time>"],
  [/\b\d\d:\d\d:\d\d(?:\.\d+)?\b/g, "<time>"],
  [/\b(?:\d+m)?\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|sec|seconds?)\b/g, "<duration>"],
  [/\b0x[\da-f]{6,16}\b/gi, "<address>"],
  // Of commits, and of caches that depend on the directory.
  [/\b[\da-f]{12,64}\b/g, "<hash>"],
];

/** Replaces paths of directories of runs, ids, times, durations, addresses and hashes. */
export function normalizeText(text: string): string {
  let normalized = text;
  for (const [pattern, replacement] of VARIABLE_PARTS) {
    normalized = normalized.replaceAll(pattern, replacement);
  }
  return normalized;
}
