/**
 * Suggestions for misspelt names.
 *
 * @module
 */

import { levenshteinDistance } from "@std/text/levenshtein-distance";

/**
 * Returns a sentence that suggests the candidate most similar to a word, such as `. Did you mean run?`, to be appended
 * to an error message. Empty when none is similar.
 */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const suggestion = findSuggestion(word, candidates);
  return suggestion === undefined ? "" : `. Did you mean ${suggestion}?`;
}

/** Finds the candidate of which a word is a long form, or the most similar one. */
export function findSuggestion(word: string, candidates: readonly string[]): string | undefined {
  return candidates.find((candidate) => isLongForm(word, candidate)) ??
    findSimilar(word, candidates);
}

/** Finds the candidate most similar to a word: one typing error per three characters is allowed. */
export function findSimilar(word: string, candidates: readonly string[]): string | undefined {
  // A single letter is one typing error away from every other letter.
  if (word.replace(/^-+/, "").length < 2) return undefined;
  const limit = Math.max(1, Math.floor(word.length / 3));
  const [nearest] = candidates
    .map((candidate) => ({ candidate, errors: countTypingErrors(word, candidate) }))
    .filter(({ errors }) => errors <= limit)
    .sort((a, b) => a.errors - b.errors);
  return nearest?.candidate;
}

/** Minimum number of letters with which a long form begins. */
const MIN_BEGINNING = 4;

/** Whether a word is a long form of a candidate: `bypassPermissions` of `bypass`. */
function isLongForm(word: string, candidate: string): boolean {
  return candidate.length >= MIN_BEGINNING && /^\w+$/.test(candidate) &&
    word.toLowerCase().startsWith(candidate.toLowerCase());
}

function countTypingErrors(word: string, candidate: string): number {
  const [typed, expected] = [word.toLowerCase(), candidate.toLowerCase()];
  const distance = levenshteinDistance(typed, expected);
  // Two swapped letters are two edits and one typing error.
  return distance === 2 && sortLetters(typed) === sortLetters(expected) ? 1 : distance;
}

function sortLetters(word: string): string {
  return [...word].sort().join("");
}
