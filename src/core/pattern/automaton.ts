/**
 * Builds automata from parsed regular expressions (Thompson's construction).
 *
 * @module
 */

import type { Lookaround, PatternNode, PatternPosition, Repetition } from "./parse_pattern.ts";

/** The states of a pattern, or of the body of a lookaround. */
export interface Automaton {
  readonly start: State;
  readonly stateCount: number;
  /** Direction in which a text is read. */
  readonly direction: Direction;
  /** The bodies of the lookarounds, which are read in the opposite direction of what they look at. */
  readonly lookarounds: readonly Automaton[];
}

/** Direction in which a text is read. */
export type Direction = "forward" | "backward";

/** A state; `id` numbers the states of an automaton from 0. */
export type State =
  | { readonly id: number; readonly type: "accept" }
  | { readonly id: number; readonly type: "branch"; readonly next: State[] }
  | {
    readonly id: number;
    readonly type: "condition";
    readonly test: PositionTest;
    readonly next: State;
  }
  | CharacterState;

/** A state that reads one character. */
export interface CharacterState {
  readonly id: number;
  readonly type: "character";
  readonly test: (character: string) => boolean;
  readonly next: State;
}

/** Tests a position between two characters. */
export type PositionTest = (position: number, text: AnnotatedText) => boolean;

/** A text as its characters, with the positions at which each lookaround of an automaton matches, as 1. */
export interface AnnotatedText {
  readonly characters: readonly string[];
  readonly lookarounds: readonly Uint8Array[];
}

/** Builds the automaton of a pattern; `flags` are those of the regular expression. */
export function buildAutomaton(pattern: PatternNode, flags: string): Automaton {
  return new AutomatonBuilder(flags, "forward").build(pattern);
}

/** Returns about the number of states of the automaton of a pattern. */
export function countStates(node: PatternNode): number {
  switch (node.type) {
    case "character":
    case "assertion":
      return 1;
    case "lookaround":
      return countStates(node.body) + 1;
    case "sequence":
      return node.items.reduce((sum, item) => sum + countStates(item), 0);
    case "choice":
      return node.options.reduce((sum, option) => sum + countStates(option), 1);
    case "repetition": {
      const { body, min, max } = node;
      return (Number.isFinite(max) ? max : min + 1) * (countStates(body) + 1);
    }
  }
}

/** Builds states from the end of a pattern to its start: each is created with the state that follows it. */
class AutomatonBuilder {
  readonly #flags: string;
  readonly #direction: Direction;
  readonly #lookarounds: Automaton[] = [];
  readonly #characterTests = new Map<string, CharacterState["test"]>();
  #stateCount = 0;

  constructor(flags: string, direction: Direction) {
    this.#flags = flags;
    this.#direction = direction;
  }

  build(pattern: PatternNode): Automaton {
    const start = this.#add(pattern, { id: this.#stateCount++, type: "accept" });
    return {
      start,
      stateCount: this.#stateCount,
      direction: this.#direction,
      lookarounds: this.#lookarounds,
    };
  }

  #add(node: PatternNode, next: State): State {
    switch (node.type) {
      case "character":
        return {
          id: this.#stateCount++,
          type: "character",
          test: this.#getTest(node.source),
          next,
        };
      case "assertion":
        return this.#addCondition(POSITION_TESTS[node.at], next);
      case "lookaround":
        return this.#addLookaround(node, next);
      case "sequence": {
        const items = this.#direction === "forward" ? node.items.toReversed() : node.items;
        return items.reduce((state, item) => this.#add(item, state), next);
      }
      case "choice":
        return this.#addBranch(node.options.map((option) => this.#add(option, next)));
      case "repetition":
        return this.#addRepetition(node, next);
    }
  }

  #addBranch(next: State[]): State {
    return { id: this.#stateCount++, type: "branch", next };
  }

  #addCondition(test: PositionTest, next: State): State {
    return { id: this.#stateCount++, type: "condition", test, next };
  }

  #addLookaround({ direction, negated, body }: Lookaround, next: State): State {
    const opposite = direction === "ahead" ? "backward" : "forward";
    const index = this.#lookarounds.push(new AutomatonBuilder(this.#flags, opposite).build(body)) -
      1;
    const expected = negated ? 0 : 1;
    return this.#addCondition(
      (position, { lookarounds }) => lookarounds[index]?.[position] === expected,
      next,
    );
  }

  #addRepetition({ body, min, max }: Repetition, next: State): State {
    let state = next;
    if (max === Infinity) {
      const loop: State[] = [next];
      state = this.#addBranch(loop);
      loop.push(this.#add(body, state));
    } else {
      for (let count = min; count < max; count++) {
        state = this.#addBranch([next, this.#add(body, state)]);
      }
    }
    for (let count = 0; count < min; count++) state = this.#add(body, state);
    return state;
  }

  #getTest(source: string): CharacterState["test"] {
    const known = this.#characterTests.get(source);
    const test = known ?? createCharacterTest(source, this.#flags);
    this.#characterTests.set(source, test);
    return test;
  }
}

const POSITION_TESTS: Readonly<Record<PatternPosition, PositionTest>> = {
  start: (position) => position === 0,
  end: (position, { characters }) => position === characters.length,
  word_boundary: isWordBoundary,
  no_word_boundary: (position, text) => !isWordBoundary(position, text),
};

function isWordBoundary(position: number, { characters }: AnnotatedText): boolean {
  return isWord(characters[position - 1]) !== isWord(characters[position]);
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /^\w$/.test(character);
}

/** Leaves classes and escapes to the platform; most characters are ASCII, whose results are cached. */
function createCharacterTest(source: string, flags: string): CharacterState["test"] {
  if (source !== "." && !/^[[\\]/.test(source)) return (character) => character === source;
  const expression = new RegExp(`^(?:${source})$`, flags);
  const cache: boolean[] = [];
  return (character) => {
    const code = character.charCodeAt(0);
    return code < 128 ? cache[code] ??= expression.test(character) : expression.test(character);
  };
}
