/**
 * Parses regular expressions into trees.
 *
 * @module
 */

/** A part of a regular expression. Captures have no node of their own, since patterns are only tested. */
export type PatternNode =
  /** One character: a literal, an escape, a class or `.`. */
  | { readonly type: "character"; readonly source: string }
  | { readonly type: "assertion"; readonly at: PatternPosition }
  | Lookaround
  | { readonly type: "sequence"; readonly items: readonly PatternNode[] }
  | { readonly type: "choice"; readonly options: readonly PatternNode[] }
  | Repetition;

/** Position that `^`, `$`, `\b` or `\B` asserts. */
export type PatternPosition = "start" | "end" | "word_boundary" | "no_word_boundary";

/** `(?=…)`, `(?!…)`, `(?<=…)` or `(?<!…)`. */
export interface Lookaround {
  readonly type: "lookaround";
  readonly direction: "ahead" | "behind";
  readonly negated: boolean;
  readonly body: PatternNode;
}

/** A part with a quantifier; whether it is greedy makes no difference to a test. */
export interface Repetition {
  readonly type: "repetition";
  readonly body: PatternNode;
  readonly min: number;
  /** `Infinity` for no maximum. */
  readonly max: number;
}

const GROUP_START = /\((?:\?(?:<?([=!])|:|<[^>]*>))?/y;
const POSITION = /\^|\$|\\b|\\B/y;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y;
const UNSUPPORTED = /\\[1-9]|\\k<|\(\?[-ims]/y;
const UNICODE_CHARACTER =
  /\[(?:\\.|[^\]\\])*\]|\\(?:u\{[^}]*\}|ud[89ab]..\\ud[c-f]..|u.{4}|x..|c.|p\{[^}]*\}|.)|./isuy;
const LEGACY_CHARACTER =
  /\[(?:\\.|[^\]\\])*\]|\\(?:u[\da-f]{4}|x[\da-f]{2}|c[a-z]|0[0-7]{0,2}|.)|./isy;

const POSITIONS: Readonly<Record<string, PatternPosition>> = {
  "^": "start",
  "$": "end",
  "\\b": "word_boundary",
  "\\B": "no_word_boundary",
};

/**
 * Parses a valid regular expression.
 *
 * @throws {SyntaxError} If it contains a back reference or changes its flags, which a linear matcher cannot support.
 */
export function parsePattern(source: string, { unicode }: { unicode: boolean }): PatternNode {
  return new PatternParser(source, unicode ? UNICODE_CHARACTER : LEGACY_CHARACTER).parseChoice();
}

class PatternParser {
  readonly #source: string;
  readonly #character: RegExp;
  #index = 0;

  constructor(source: string, character: RegExp) {
    this.#source = source;
    this.#character = character;
  }

  parseChoice(): PatternNode {
    const options = [this.#parseSequence()];
    while (this.#source[this.#index] === "|") {
      this.#index++;
      options.push(this.#parseSequence());
    }
    const [first] = options;
    return first && options.length === 1 ? first : { type: "choice", options };
  }

  #parseSequence(): PatternNode {
    const items: PatternNode[] = [];
    while (this.#index < this.#source.length && !"|)".includes(this.#source[this.#index] ?? "")) {
      items.push(this.#parseQuantifier(this.#parseTerm()));
    }
    return { type: "sequence", items };
  }

  #parseTerm(): PatternNode {
    const unsupported = this.#read(UNSUPPORTED);
    if (unsupported) throw new SyntaxError(`"${unsupported[0]}" is not supported`);
    const position = POSITIONS[this.#read(POSITION)?.[0] ?? ""];
    if (position) return { type: "assertion", at: position };
    const group = this.#read(GROUP_START);
    if (group) return this.#parseGroup(group);
    return { type: "character", source: this.#read(this.#character)?.[0] ?? "" };
  }

  #parseGroup([start, lookaround]: RegExpExecArray): PatternNode {
    const body = this.parseChoice();
    this.#index++; // the closing parenthesis
    if (!lookaround) return body;
    const direction = start.includes("<") ? "behind" : "ahead";
    return { type: "lookaround", direction, negated: lookaround === "!", body };
  }

  #parseQuantifier(body: PatternNode): PatternNode {
    const quantifier = this.#read(QUANTIFIER);
    if (!quantifier) return body;
    const [, sign, count, comma, limit] = quantifier;
    const min = sign ? Number(sign === "+") : Number(count);
    if (sign) return { type: "repetition", body, min, max: sign === "?" ? 1 : Infinity };
    return { type: "repetition", body, min, max: comma ? Number(limit || Infinity) : min };
  }

  #read(token: RegExp): RegExpExecArray | null {
    token.lastIndex = this.#index;
    const match = token.exec(this.#source);
    if (match) this.#index += match[0].length;
    return match;
  }
}
