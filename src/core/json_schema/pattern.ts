/**
 * Regular expressions of unknown origin.
 *
 * `RegExp` backtracks: `^(a+)+$` takes seconds for 28 characters, and nothing can end it. A pattern is therefore matched
 * by `RegExp` only if its form bounds the time, and otherwise by RE2, whose time is linear in the length of the text.
 *
 * @module
 */

/** Tests texts. */
export interface Matcher {
  /** Whether the pattern matches anywhere in a text. */
  test(text: string): boolean;
}

/** The part of re2js that is used here. */
interface Re2 {
  compile(source: string): Matcher;
  translateRegExp(source: string): string;
}

let re2: Re2 | undefined;

/** Loads RE2, unless all patterns are bounded; call it before {@linkcode createMatcher}. */
export async function loadMatchers(patterns: Iterable<string>): Promise<void> {
  if (canCreateMatchers(patterns)) return;
  const { RE2JS } = await import("re2js");
  re2 = RE2JS;
}

/** Whether {@linkcode createMatcher} may be called for these patterns. */
export function canCreateMatchers(patterns: Iterable<string>): boolean {
  return re2 !== undefined || [...patterns].every(isBounded);
}

/**
 * Creates a matcher. As JSON Schema recommends, the pattern is read with the flag `u`; without it if only that makes it
 * valid, since patterns such as `[\\w-\\.]` are common.
 *
 * @throws {Error} If the pattern is invalid, or its time cannot be bounded: lookarounds and back references.
 */
export function createMatcher(source: string): Matcher {
  const expression = toRegExp(source);
  if (isBounded(source) || !re2) return expression;
  return re2.compile(re2.translateRegExp(source));
}

function toRegExp(source: string): RegExp {
  try {
    return new RegExp(source, "u");
  } catch {
    return new RegExp(source);
  }
}

/** A token of a regular expression that matters for its time. */
const TOKENS = /\\[1-9k]|\\.|\[(?:\\.|[^\]\\])*\]?|\(\?[:=!<][=!]?|[*+?|]|\{(\d+)(,\d*)?\}|[()]/gs;

/** Fixed repetitions above this number count as a choice, since each of them is a step. */
const MAX_FIXED_REPETITIONS = 10;

/**
 * Whether `RegExp` matches a pattern in linear time: it has no choice between options or lengths, or one that follows
 * the start of the text; and no group is repeated.
 */
function isBounded(source: string): boolean {
  let choices = 0;
  let options = 0;
  let previous = "";
  for (const { 0: token, 1: count, 2: range } of source.matchAll(TOKENS)) {
    const isQuantifier = /^[*+?{]/.test(token);
    if (/^\\[1-9k]/.test(token)) return false;
    if (isQuantifier && previous === ")") return false;
    const isLazy = token === "?" && /^[*+?{]/.test(previous);
    const isFixed = count !== undefined && range === undefined &&
      Number(count) <= MAX_FIXED_REPETITIONS;
    if (token === "|") options++;
    else if (isQuantifier && !isLazy && !isFixed) choices++;
    previous = token;
  }
  if (choices === 0) return options <= 1 || !source.includes("(");
  return choices === 1 && options === 0 && source.startsWith("^");
}
