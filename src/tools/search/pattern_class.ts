/**
 * Character classes of ripgrep's regular expressions as JavaScript's, with the flag `v`.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";

/** Target of a translation. */
export interface PatternTarget {
  /** Whether the searched text is ASCII, so that the classes of JavaScript, which are faster, have the same meaning. */
  readonly ascii: boolean;
  /** Whether a class may match a line break. */
  readonly multiline: boolean;
}

/** A translated part of a pattern. */
export interface TranslatedPart {
  /** Source for JavaScript. */
  readonly source: string;
  /** Index after the part. */
  readonly end: number;
}

/** Replaces bytes that are not UTF-8 in decoded text; no class matches it, as in ripgrep. */
const INVALID = "\\u{fffd}";

const PERL_CLASSES: Readonly<Record<string, readonly [ascii: string, unicode: string]>> = {
  d: ["0-9", "\\p{Nd}"],
  w: ["a-zA-Z0-9_", "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}"],
  s: ["\\t\\n\\v\\f\\r\\x20", "\\p{White_Space}"],
};

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7f",
  blank: "\\t\\x20",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: "\\x20-~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\t\\n\\v\\f\\r\\x20",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

/** Returns the class that matches any character but a line break; with `dotAll` any character. */
export function getDotClass(target: PatternTarget, dotAll: boolean): string {
  const excluded = dotAll && target.multiline ? [] : ["\\n", "\\r"];
  if (!target.ascii) excluded.push(INVALID);
  return `[^${excluded.join("")}]`;
}

/** Returns the characters of `\w`, without brackets. */
export function getWordCharacters({ ascii }: PatternTarget): string {
  return PERL_CLASSES.w?.[ascii ? 0 : 1] ?? "";
}

/** Translates an escape that is a class, such as `\w` or `\p{L}`; `undefined` for any other escape. */
export function translateClassEscape(
  pattern: string,
  offset: number,
  target: PatternTarget,
): TranslatedPart | undefined {
  const perl = /^\\([dwsDWS])/.exec(pattern.slice(offset, offset + 2))?.[1];
  if (perl !== undefined) {
    const negated = perl !== perl.toLowerCase();
    const members = PERL_CLASSES[perl.toLowerCase()]?.[target.ascii ? 0 : 1] ?? "";
    return { source: withoutLineBreaks(`[${members}]`, { negated, target }), end: offset + 2 };
  }
  const [property, sign, name = ""] =
    /^\\([pP])(?:\{([^}]*)\}|[A-Za-z])/.exec(pattern.slice(offset, offset + 80)) ?? [];
  if (property === undefined) return undefined;
  const negated = (sign === "P") !== name.startsWith("^");
  const value = toPropertyName(name.replace(/^\^/, "") || property.slice(2));
  return {
    source: withoutLineBreaks(`[\\p{${value}}]`, { negated, target }),
    end: offset + property.length,
  };
}

/** Converts a name such as `greek` or `sc=Greek`, which ripgrep accepts, to a property of JavaScript. */
function toPropertyName(name: string): string {
  const candidates = [name, `Script=${name}`, `Script=${capitalize(name)}`, capitalize(name)];
  const valid = candidates.find((candidate) => isValidSource(`\\p{${candidate}}`));
  if (valid !== undefined) return valid;
  throw new BadRequestError(`The pattern is invalid: unknown class \\p{${name}}`);
}

function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).toLowerCase();
}

function isValidSource(source: string): boolean {
  try {
    new RegExp(source, "v");
    return true;
  } catch {
    return false;
  }
}

interface ClassOptions {
  readonly negated: boolean;
  readonly target: PatternTarget;
}

/** Completes a class: no class matches an invalid byte, or, in a search by lines, a line break. */
function withoutLineBreaks(source: string, { negated, target }: ClassOptions): string {
  const invalid = target.ascii ? "" : INVALID;
  const breaks = target.multiline ? "" : "\\n\\r";
  if (negated) return `[^${source}${breaks}${invalid}]`;
  return breaks === "" ? source : `[${source}--[${breaks}]]`;
}

/** Translates a bracketed class that begins at `offset`. @throws {BadRequestError} When it is invalid. */
export function translateClass(
  pattern: string,
  offset: number,
  target: PatternTarget,
): TranslatedPart {
  const parser = new ClassParser(pattern, { ...target, multiline: true });
  const { source, end, negated } = parser.parse(offset);
  return { source: withoutLineBreaks(source, { negated, target }), end };
}

interface ParsedClass extends TranslatedPart {
  readonly negated: boolean;
}

const OPERATORS: readonly string[] = ["&&", "--"];

/** Parses nested classes. */
class ClassParser {
  readonly #pattern: string;
  readonly #target: PatternTarget;
  #offset = 0;

  constructor(pattern: string, target: PatternTarget) {
    this.#pattern = pattern;
    this.#target = target;
  }

  parse(offset: number): ParsedClass {
    this.#offset = offset + 1;
    const negated = this.#take("^");
    let operator: string | undefined;
    let left = "";
    let members = "";
    if (this.#take("]")) members += "\\]";
    while (!this.#take("]")) {
      const found = OPERATORS.find((candidate) => this.#take(candidate));
      if (found === undefined) {
        members += this.#parseMember();
        continue;
      }
      left = combine(left, { operator, members });
      operator = found;
      members = "";
    }
    return { source: combine(left, { operator, members }), end: this.#offset, negated };
  }

  #parseMember(): string {
    const posix = /^\[:(\^?)([a-z]+):\]/.exec(this.#rest(20));
    if (posix) return this.#parsePosix(posix);
    if (this.#rest(1) === "[") {
      const inner = new ClassParser(this.#pattern, this.#target).parse(this.#offset);
      this.#offset = inner.end;
      return inner.negated ? this.#negate(inner.source) : inner.source;
    }
    const named = translateClassEscape(this.#pattern, this.#offset, this.#target);
    if (named) {
      this.#offset = named.end;
      return named.source;
    }
    const from = this.#parseCharacter();
    const isRange = /^-(?![\]-])/.test(this.#rest(2)) && this.#rest(2) !== "-";
    if (!isRange) return toEscape(from);
    this.#offset++;
    const to = this.#parseCharacter();
    if (to < from) throw createClassError("a range is in the wrong order");
    return `${toEscape(from)}-${toEscape(to)}`;
  }

  #parsePosix([text, negation, name = ""]: RegExpExecArray): string {
    const members = POSIX_CLASSES[name];
    if (members === undefined) throw createClassError(`unknown class [:${name}:]`);
    this.#offset += text.length;
    return negation === "" ? members : this.#negate(`[${members}]`);
  }

  #negate(source: string): string {
    return withoutLineBreaks(source, { negated: true, target: this.#target });
  }

  #parseCharacter(): number {
    if (this.#rest(1) === "") throw createClassError("a bracket is not closed");
    const { codePoint, end } = readCharacter(this.#pattern, this.#offset);
    this.#offset = end;
    return codePoint;
  }

  #take(text: string): boolean {
    if (!this.#pattern.startsWith(text, this.#offset)) return false;
    this.#offset += text.length;
    return true;
  }

  #rest(length: number): string {
    return this.#pattern.slice(this.#offset, this.#offset + length);
  }
}

function combine(
  left: string,
  { operator, members }: { readonly operator: string | undefined; readonly members: string },
): string {
  return operator === undefined ? `[${members}]` : `[${left}${operator}[${members}]]`;
}

/** Returns a character as an escape that is valid inside and outside of classes. */
export function toEscape(codePoint: number): string {
  const character = String.fromCodePoint(codePoint);
  return /[A-Za-z0-9_ ]/.test(character) ? character : `\\u{${codePoint.toString(16)}}`;
}

const CONTROL_ESCAPES: Readonly<Record<string, number>> = {
  a: 0x07,
  f: 0x0c,
  n: 0x0a,
  r: 0x0d,
  t: 0x09,
  v: 0x0b,
};

/** Reads a literal character or its escape. @throws {BadRequestError} When the escape is unknown. */
export function readCharacter(
  pattern: string,
  offset: number,
): { readonly codePoint: number; readonly end: number } {
  const codePoint = pattern.codePointAt(offset) ?? 0;
  if (codePoint !== 0x5c) return { codePoint, end: offset + (codePoint > 0xffff ? 2 : 1) };
  const escape = pattern.slice(offset + 1, offset + 13);
  const [hex, ...digits] =
    /^(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8})|[xuU]\{([\dA-Fa-f]+)\})/.exec(escape) ??
      [];
  if (hex !== undefined) {
    const value = parseInt(digits.find((digit) => digit !== undefined) ?? "", 16);
    if (value > 0x10ffff) throw createClassError(`\\${hex} is not a character`);
    return { codePoint: value, end: offset + 1 + hex.length };
  }
  const escaped = escape.codePointAt(0);
  if (escaped === undefined) throw createClassError("it ends with a backslash");
  const name = String.fromCodePoint(escaped);
  const control = CONTROL_ESCAPES[name];
  if (control === undefined && /[A-Za-z0-9]/.test(name)) {
    throw createClassError(`unknown escape \\${name}`);
  }
  return { codePoint: control ?? escaped, end: offset + 1 + name.length };
}

function createClassError(reason: string): BadRequestError {
  return new BadRequestError(`The pattern is invalid: ${reason}`);
}
