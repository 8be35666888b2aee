/**
 * Tests texts against regular expressions of unknown origin, without blocking the thread.
 *
 * `RegExp` backtracks: `^(a+)+$` takes seconds for 28 characters. A pattern is therefore matched by `RegExp` only where
 * its structure and the length of the text bound the time, and otherwise by a linear matcher.
 *
 * @module
 */

import { type Automaton, buildAutomaton, countStates } from "./automaton.ts";
import { matchesAnywhere } from "./linear_matcher.ts";
import { parsePattern, type PatternNode } from "./parse_pattern.ts";

/** Duration of a step of the linear matcher, relative to one of `RegExp`. */
const LINEAR_STEP = 10;

/** Maximum number of states for the linear matcher, which are built before the first match. */
const MAX_STATES = 5_000;

/** Fixed repetitions above this number count as a choice, since each of them is a step. */
const MAX_FIXED_REPETITIONS = 10;

/** A regular expression as in the keyword `pattern` of JSON Schema: it matches anywhere in a text. */
export class Pattern {
  readonly #expression: RegExp;
  readonly #tree: PatternNode;
  readonly #stateCount: number;
  /** Number of choices that follow each other: the exponent of the time of `RegExp` from a given start. */
  readonly #degree: number;
  #automaton: Automaton | undefined;

  /**
   * Parses a pattern. As JSON Schema recommends, it is read with the flag `u`; without it if only that makes it valid,
   * since patterns such as `[\w-\.]` are common.
   *
   * @throws {SyntaxError} If it is invalid, has back references or inline flags, or is too large.
   */
  constructor(source: string) {
    this.#expression = toRegExp(source);
    this.#tree = parsePattern(source, this.#expression);
    this.#stateCount = countStates(this.#tree);
    this.#degree = getDegree(this.#tree);
    if (this.#degree === Infinity && this.#stateCount > MAX_STATES) {
      throw new SyntaxError(`The pattern is too large: it has ${this.#stateCount} states`);
    }
  }

  /** Returns an upper bound of the steps of a test, each about 5 ns. */
  countSteps({ length }: string): number {
    return Math.min(this.#countBacktrackingSteps(length), this.#countLinearSteps(length));
  }

  /** Tests a text. */
  test(text: string): boolean {
    const { length } = text;
    if (this.#countBacktrackingSteps(length) <= this.#countLinearSteps(length)) {
      return this.#expression.test(text);
    }
    const { flags, unicode } = this.#expression;
    this.#automaton ??= buildAutomaton(this.#tree, flags);
    return matchesAnywhere(this.#automaton, unicode ? Array.from(text) : text.split(""));
  }

  #countBacktrackingSteps(length: number): number {
    const size = this.#expression.source.length;
    const steps = Math.max(size, Math.max(size, length) ** this.#degree);
    return isAnchored(this.#tree) ? steps : steps * (length + 1);
  }

  #countLinearSteps(length: number): number {
    if (this.#stateCount > MAX_STATES) return Infinity;
    return (length + 1) * this.#stateCount * LINEAR_STEP;
  }
}

function toRegExp(source: string): RegExp {
  try {
    return new RegExp(source, "u");
  } catch {
    return new RegExp(source);
  }
}

/**
 * Returns the number of choices, between options or lengths, that follow each other in a pattern; `Infinity` if a
 * repeated part has choices of its own, as in `(a+)+`.
 */
function getDegree(node: PatternNode): number {
  switch (node.type) {
    case "character":
    case "assertion":
      return 0;
    case "lookaround":
      return getDegree(node.body);
    case "sequence":
      return node.items.reduce((sum, item) => sum + getDegree(item), 0);
    case "choice":
      return 1 + Math.max(...node.options.map(getDegree));
    case "repetition": {
      const { body, min, max } = node;
      const degree = getDegree(body);
      if (max <= 1) return degree + (max - min);
      if (degree > 0) return Infinity;
      return Number(max > min || max > MAX_FIXED_REPETITIONS);
    }
  }
}

/** Whether a pattern can match only at the start of a text. */
function isAnchored(node: PatternNode): boolean {
  if (node.type === "sequence") return node.items[0] !== undefined && isAnchored(node.items[0]);
  if (node.type === "choice") return node.options.every(isAnchored);
  return node.type === "assertion" && node.at === "start";
}
