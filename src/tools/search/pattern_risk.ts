/**
 * Estimates the cost of a regular expression. JavaScript's engine backtracks, and a running match cannot be aborted.
 *
 * @module
 */

/**
 * Cost of a pattern on a line of n characters: linear; a power of n, whose exponent is the number of unbounded
 * repetitions; or exponential, if repetitions are nested.
 */
export type PatternRisk =
  | { readonly type: "linear" }
  | { readonly type: "power"; readonly exponent: number }
  | { readonly type: "exponential" };

/** Estimates the cost by the form of the pattern; may overestimate it. */
export function getPatternRisk(source: string): PatternRisk {
  const groups: { hasRepetition: boolean; hasAlternation: boolean }[] = [{
    hasRepetition: false,
    hasAlternation: false,
  }];
  let repetitions = 0;
  for (const [token] of source.matchAll(TOKENS)) {
    const group = groups.at(-1);
    if (!group) break;
    if (/^\\[1-9k]/.test(token)) return { type: "exponential" };
    if (token === "(") groups.push({ hasRepetition: false, hasAlternation: false });
    else if (token === "|") group.hasAlternation = true;
    else if (token.startsWith(")")) {
      const closed = groups.pop();
      const isRepeated = isUnbounded(token.slice(1));
      if (isRepeated && (closed?.hasRepetition || closed?.hasAlternation)) {
        return { type: "exponential" };
      }
      const parent = groups.at(-1);
      if (parent && (isRepeated || closed?.hasRepetition)) parent.hasRepetition = true;
      if (parent && closed?.hasAlternation) parent.hasAlternation = true;
      if (isRepeated) repetitions++;
    } else if (isUnbounded(token)) {
      group.hasRepetition = true;
      repetitions++;
    }
  }
  return repetitions === 0 ? { type: "linear" } : { type: "power", exponent: repetitions };
}

/** Matches escapes and classes as one token each, and a closing parenthesis with its quantifier. */
const TOKENS =
  /\\(?:k<[^>]*>?|\d+|[\s\S])|\[\^?(?:\\[\s\S]|[^\]\\])*\]?|\((?!\?)|\((?=\?)|\)(?:[*+]|\{\d+,?\d*\})?|[*+]|\{\d+,?\d*\}|\|/g;

/** Quantifiers with a bound above this count as unbounded. */
const MAX_SAFE_REPETITIONS = 20;

function isUnbounded(quantifier: string): boolean {
  if (quantifier === "*" || quantifier === "+") return true;
  const [, minimum, comma, maximum] = /^\{(\d+)(,?)(\d*)\}$/.exec(quantifier) ?? [];
  if (minimum === undefined) return false;
  if (comma === "") return Number(minimum) > MAX_SAFE_REPETITIONS;
  return maximum === "" || Number(maximum) > MAX_SAFE_REPETITIONS;
}
