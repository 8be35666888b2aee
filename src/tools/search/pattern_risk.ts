/**
 * How long a regular expression may take. JavaScript's engine tries every way in which a pattern could fit, and nothing
 * stops it in the middle.
 *
 * @module
 */

/**
 * What a pattern may cost on a line of n characters: about n; a power of n, by the number of its open-ended
 * repetitions; or more than any line is worth, when one repetition stands inside of another.
 */
export type PatternRisk =
  | { readonly type: "linear" }
  | { readonly type: "power"; readonly exponent: number }
  | { readonly type: "exponential" };

/** Judges a pattern by its form alone; it errs on the side of caution. */
export function getPatternRisk(source: string): PatternRisk {
  const groups: { repeats: boolean; chooses: boolean }[] = [{ repeats: false, chooses: false }];
  let repetitions = 0;
  for (const [token] of source.matchAll(TOKENS)) {
    const group = groups.at(-1);
    if (!group) break;
    if (/^\\[1-9k]/.test(token)) return { type: "exponential" };
    if (token === "(") groups.push({ repeats: false, chooses: false });
    else if (token === "|") group.chooses = true;
    else if (token.startsWith(")")) {
      const inside = groups.pop();
      const isRepeated = isOpenEnded(token.slice(1));
      if (isRepeated && (inside?.repeats || inside?.chooses)) return { type: "exponential" };
      const parent = groups.at(-1);
      if (parent && (isRepeated || inside?.repeats)) parent.repeats = true;
      if (parent && inside?.chooses) parent.chooses = true;
      if (isRepeated) repetitions++;
    } else if (isOpenEnded(token)) {
      group.repeats = true;
      repetitions++;
    }
  }
  return repetitions === 0 ? { type: "linear" } : { type: "power", exponent: repetitions };
}

/** Escapes and classes as one token each; a closing bracket together with its repetition. */
const TOKENS =
  /\\(?:k<[^>]*>|\d+|[\s\S])|\[\^?(?:\\[\s\S]|[^\]\\])*\]|\((?!\?)|\((?=\?)|\)(?:[*+]|\{\d+,?\d*\})?|[*+]|\{\d+,?\d*\}|\|/g;

/** Up to so many repetitions a group may be repeated without being dangerous. */
const MAX_SAFE_REPETITIONS = 20;

function isOpenEnded(repetition: string): boolean {
  if (repetition === "*" || repetition === "+") return true;
  const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}$/.exec(repetition) ?? [];
  if (least === undefined) return false;
  if (comma === "") return Number(least) > MAX_SAFE_REPETITIONS;
  return most === "" || Number(most) > MAX_SAFE_REPETITIONS;
}
