/**
 * Detection of keys and passwords in inputs.
 *
 * @module
 */

import { findSecrets, KEY_PATTERNS } from "../../src/core/text/redact.ts";

/** Matches a command that sets the key of a provider, such as `#key anthropic sk-…`. */
const KEY_COMMAND = /^\s*[#/:]?(?:key|keys|login)\s+\S+\s+\S/;

/** Matches a name such as `API_KEY` or `password` with a value that contains a digit in its first part. */
const ASSIGNMENT =
  /(?:key|token|secret|passw(?:or)?d|credentials?)["']?\s*[:=]\s*["']?(?=[^\s"']{0,512}\d)[\w+/=.~-]{8,}/i;

/** Shortest text that can be a key of an unknown form, in characters. */
const MIN_KEY = 24;

/** Longest text that is a key and not data, in characters. */
const MAX_KEY = 512;

/** Fewest bits of entropy per character of a random key. */
const MIN_ENTROPY = 3.2;

/**
 * Whether a text contains a key or password, as far as that can be recognized: known secrets, keys of known services,
 * assignments, commands that set a key, and a text that is a single random word.
 */
export function containsSecret(text: string, secrets: readonly string[] = []): boolean {
  return KEY_COMMAND.test(text) || ASSIGNMENT.test(text) || isRandomWord(text.trim()) ||
    findSecrets(text, secrets, KEY_PATTERNS).length > 0;
}

function isRandomWord(word: string): boolean {
  if (word.length < MIN_KEY || word.length > MAX_KEY || !/^[\w+/=.~-]+$/.test(word)) return false;
  const isPath = /^[.~]?\.?\//.test(word) || /\.[a-z]{1,5}$/i.test(word);
  // Words and numbers that are joined, such as the name of a branch.
  const isName = word.split(/[-_./]+/).every((part) => /^(?:[A-Za-z]*|\d*)$/.test(part));
  return !isPath && !isName && getEntropy(word) >= MIN_ENTROPY;
}

/** Returns the entropy of the characters of a text, in bits per character. */
function getEntropy(text: string): number {
  const counts = Map.groupBy(text, (character) => character).values();
  return counts.reduce((sum, { length }) => {
    const share = length / text.length;
    return sum - share * Math.log2(share);
  }, 0);
}
