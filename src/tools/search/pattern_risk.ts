/**
 * Estimates the cost of a regular expression. JavaScript's engine backtracks, and a running match cannot be aborted.
 *
 * @module
 */

/**
 * Cost of a pattern on a line of n characters: linear; a power of n, whose exponent is the number of unbounded
 * repetitions, times the number of ways in which the other parts can match; or exponential, if repetitions are nested.
 */
export type PatternRisk =
  | { readonly type: "linear" }
  | { readonly type: "power"; readonly exponent: number; readonly factor: number }
  | { readonly type: "exponential" };

/** The cost of a part of a pattern. */
interface PartCost {
  /** Number of unbounded repetitions. */
  readonly repetitions: number;
  /** Binary logarithm of the number of ways in which its bounded repetitions and alternatives can match. */
  readonly ways: number;
}

const SINGLE: PartCost = { repetitions: 0, ways: 0 };

/** A group that is being read. */
interface OpenGroup {
  repetitions: number;
  ways: number;
  alternatives: number;
  /** The part to which a quantifier applies. */
  last: PartCost;
}

/** Below this number of ways, as a binary logarithm, the cost counts as that of one. */
const FEW_WAYS = 8;

/** Above this number of ways, as a binary logarithm, a pattern does not end on any line. */
const MANY_WAYS = 40;

/** Estimates the cost by the form of the pattern; may overestimate it. */
export function getPatternRisk(source: string): PatternRisk {
  const groups = [openGroup()];
  for (const [token] of source.matchAll(TOKENS)) {
    const group = groups.at(-1) ?? openGroup();
    if (/^\\[1-9k]/.test(token)) return { type: "exponential" };
    if (token.startsWith("(")) {
      if (!token.endsWith(")")) groups.push(openGroup());
    } else if (token === "|") {
      group.alternatives++;
      group.last = SINGLE;
    } else if (token === ")") {
      if (groups.length > 1) groups.pop();
      addPart(groups.at(-1) ?? group, closeGroup(group));
    } else if (QUANTIFIER.test(token)) {
      if (!repeatPart(group, parseQuantifier(token))) return { type: "exponential" };
    } else group.last = SINGLE;
  }
  return toRisk(groups.reduceRight<PartCost>((inner, group) => {
    addPart(group, inner);
    return closeGroup(group);
  }, SINGLE));
}

function toRisk({ repetitions, ways }: PartCost): PatternRisk {
  if (ways > MANY_WAYS) return { type: "exponential" };
  if (ways <= FEW_WAYS && repetitions === 0) return { type: "linear" };
  return { type: "power", exponent: repetitions, factor: ways <= FEW_WAYS ? 1 : 2 ** ways };
}

function openGroup(): OpenGroup {
  return { repetitions: 0, ways: 0, alternatives: 1, last: SINGLE };
}

function closeGroup({ repetitions, ways, alternatives }: OpenGroup): PartCost {
  return { repetitions, ways: ways + Math.log2(alternatives) };
}

function addPart(group: OpenGroup, part: PartCost): void {
  group.repetitions += part.repetitions;
  group.ways += part.ways;
  group.last = part;
}

/** Adds the cost of repeating the last part; returns `false` if it is exponential. */
function repeatPart(group: OpenGroup, { minimum, maximum }: Quantifier): boolean {
  const { repetitions, ways } = group.last;
  if (maximum > MAX_SAFE_REPETITIONS) {
    group.repetitions++;
    return repetitions === 0 && ways === 0;
  }
  group.repetitions += repetitions * Math.max(maximum - 1, 0);
  group.ways += ways * Math.max(maximum - 1, 0) + Math.log2(Math.max(maximum - minimum + 1, 1));
  group.last = SINGLE;
  return true;
}

/** Matches flags, escapes, classes, quantifiers and the beginning of a group as one token each. */
const TOKENS =
  /\(\?[a-zA-Z-]+\)|\((?:\?(?:[:=!]|<[=!]|P?<[^>]*>|[a-zA-Z-]*:))?|\\(?:k<[^>]*>?|\d+|[\s\S])|\[\^?(?:\\[\s\S]|[^\]\\])*\]?|(?:[*+?]|\{\d+,?\d*\})\??|[\s\S]/g;

const QUANTIFIER = /^(?:[*+?]|\{\d+,?\d*\})\??$/;

interface Quantifier {
  readonly minimum: number;
  readonly maximum: number;
}

/** Quantifiers with a bound above this count as unbounded. */
const MAX_SAFE_REPETITIONS = 20;

function parseQuantifier(token: string): Quantifier {
  if (token.startsWith("?")) return { minimum: 0, maximum: 1 };
  const [, first, comma, last] = /^\{(\d+)(,?)(\d*)\}/.exec(token) ?? [];
  if (first === undefined) return { minimum: 0, maximum: Infinity };
  const minimum = Number(first);
  if (comma === "") return { minimum, maximum: minimum };
  return { minimum, maximum: last === "" ? Infinity : Number(last) };
}
