/**
 * Replaces the parts of a text that differ between two runs of a case.
 *
 * @module
 */

/** The prefix of the directories of runs. */
export const DIRECTORY_PREFIX = "swink_eval_";

/** Characters that end a path in the output of commands. */
const DELIMITERS = "\\s\"'`()<>";

const DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
const CLOCK = "\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?";
const ZONE = "(?: (?:[A-Z]{3,4}|[+-]\\d{4})\\b)?";

/** The mode of an entry in the list of `ls -l`: of a file, or of another kind. */
const LISTED_FILE = "^(-[-rwxsStT]{9})[.+@]?";
const LISTED_OTHER = "^([bcdlps][-rwxsStT]{9})[.+@]?";

type Replacements = readonly (readonly [pattern: RegExp, replacement: string])[];

/** Directories and ids, which differ in each run also in prompts. */
const PLACES: Replacements = [
  // A path begins after a delimiter, so that the time is linear in the length of a text without any.
  [
    new RegExp(`(?<![^${DELIMITERS}])[^${DELIMITERS}]*${DIRECTORY_PREFIX}[A-Za-z0-9]+`, "g"),
    "<directory>",
  ],
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi, "<id>"],
];

/** Parts of the output of commands and tests that differ in each run, with their replacements. */
const VARIABLE_PARTS: Replacements = [
  // Of mktemp and of the module tempfile of Python, in the directory for temporary files.
  [/(?<=[/\\](?:tmp|T|Temp)[/\\])tmp\.?[A-Za-z0-9_]{8,10}(?![A-Za-z0-9_])/gi, "<directory>"],
  // `Nov 28 13:33`, `Sat Nov 28 13:33:32 UTC 2026`, `Sat Nov 28 13:33:32 2026 +0000`
  [
    new RegExp(
      `\\b(?:${DAY} )?${MONTH} [ \\d]\\d ${CLOCK}\\b(?: (?:[A-Z]{3,4} )?\\d{4}\\b)?${ZONE}`,
      "g",
    ),
    "<time>",
  ],
  // `Sat, 28 Nov 2026 13:33:32 +0000`
  [new RegExp(`\\b(?:${DAY}, )?\\d{1,2} ${MONTH} \\d{4} ${CLOCK}\\b${ZONE}`, "g"), "<time>"],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| ?[+-]\d\d:?\d\d)?/g, "<time>"],
  // In names of logs.
  [/\b\d{4}-\d\d-\d\dT\d\d_\d\d_\d\d_\d+Z/g, "<time>"],
  [/\b\d\d:\d\d:\d\d(?:\.\d+)?\b/g, "<time>"],
  // Since the epoch: milliseconds, and seconds with a fraction.
  [/(?<![.\d])1[6-9]\d{8}(?:\d{3}|\.\d+)\b/g, "<time>"],
  [/\b\d\d:\d\d\.\d{3}\b/g, "<duration>"],
  [
    /\b(?:\d+m)?\d+(?:\.\d+)?\s?(?:ns|[µμ]s|us|ms|msecs?|s|secs?|seconds?|min|mins|minutes?)\b/g,
    "<duration>",
  ],
  // Of `node --test`, in which the unit precedes the number.
  [
    /\b((?:duration|elapsed|time)_(?:ns|us|ms|s|sec|seconds)["']?[:=]? ?)\d+(?:\.\d+)?\b/g,
    "$1<duration>",
  ],
  // Owner and links of what `ls -l` lists; the size of a directory depends on the file system.
  [new RegExp(`^total [\\d.,]+[KMGT]?\n(?=[-bcdlps][-rwxsStT]{9})`, "gm"), "total <size>\n"],
  [new RegExp(`${LISTED_FILE} +\\d+ +[^\\s]+ +[^\\s]+ +`, "gm"), "$1 <owner> "],
  [
    new RegExp(`${LISTED_OTHER} +\\d+ +[^\\s]+ +[^\\s]+ +\\d[\\d.,]*[KMGT]? +`, "gm"),
    "$1 <owner> <size> ",
  ],
  [/\b0x[\da-f]{6,16}\b/gi, "<address>"],
  // Ports that the system selects.
  [/(?<=\b(?:localhost|127\.0\.0\.1)|\[::1\]):(?:3[2-9]|[45]\d|6[0-5])\d{3}\b/g, ":<port>"],
  // Of a warning of Node, and of a command in the background.
  [/(?<=\((?:node|pid)[ :])\d+(?=\))|(?<=\bpid[ :=])\d+\b|(?<=^\[\d+\] )\d+$/gim, "<process>"],
  // Of commits, and of caches that depend on the directory. Digits alone are a number.
  [/\b(?!\d+\b)[\da-f]{12,64}\b/g, "<hash>"],
  // Short ones: of `git commit`, `git log --oneline`, `git reset` and `git pull`.
  [/^(\[[^\]\n]{1,200} )[\da-f]{7,11}(?=\])/gm, "$1<hash>"],
  [/^([*|\\/ ]{0,100})(?!\d+ )[\da-f]{7,11}(?= )/gm, "$1<hash>"],
  [/\b(HEAD is now at )[\da-f]{7,11}\b/g, "$1<hash>"],
  [/\b[\da-f]{7,11}\.\.\.?[\da-f]{7,11}\b/g, "<hash>"],
];

/** Replaces paths of directories of runs, and ids. */
export function normalizePlaces(text: string): string {
  return replaceParts(text, PLACES);
}

/**
 * Replaces paths of directories of runs and of temporary ones, ids, times, durations, owners of files, addresses, ports,
 * processes and hashes.
 */
export function normalizeText(text: string): string {
  return replaceParts(normalizePlaces(text), VARIABLE_PARTS);
}

function replaceParts(text: string, parts: Replacements): string {
  return parts.reduce((changed, [pattern, by]) => changed.replaceAll(pattern, by), text);
}
