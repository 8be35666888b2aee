/**
 * Translates the regular expressions of ripgrep, the syntax of `search_files`, to JavaScript's, so that a search has the
 * same hits on a machine without ripgrep.
 *
 * Lookaround and references to groups, which ripgrep does not have, are passed on.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import {
  getDotClass,
  getWordCharacters,
  type PatternTarget,
  readCharacter,
  toEscape,
  translateClass,
  translateClassEscape,
} from "./pattern_class.ts";
import { findRequiredLiteral } from "./required_literal.ts";
import type { SearchPattern } from "./search_pattern.ts";

/** Compiled forms of a pattern. */
export interface CompiledPattern {
  /** For text of ASCII characters without `\r`. */
  readonly ascii: RegExp;
  /** For any other text. */
  readonly unicode: RegExp;
  /** ASCII text that each match contains, if it is known. */
  readonly literal: string | undefined;
}

/** Maximum length of a pattern in characters. */
const MAX_CHARACTERS = 10_000;

/** Compiles a pattern. @throws {BadRequestError} When it is invalid. */
export function compilePattern(pattern: SearchPattern): CompiledPattern {
  const { source, multiline } = pattern;
  if (source.length > MAX_CHARACTERS) {
    throw new BadRequestError(`The pattern is longer than ${MAX_CHARACTERS} characters`);
  }
  const [, leadingFlags = ""] = /^\(\?([is]*)\)/.exec(source) ?? [];
  const ignoreCase = pattern.ignoreCase || leadingFlags.includes("i");
  const compile = (target: PatternTarget) => {
    const translator = new Translator(escapeLiteralBraces(source), target);
    const flags = `gv${ignoreCase ? "i" : ""}${target.ascii ? "m" : ""}`;
    try {
      return new RegExp(translator.translate(), flags);
    } catch (error) {
      if (error instanceof BadRequestError) throw error;
      throw new BadRequestError(`The pattern is invalid: ${getErrorMessage(error)}`);
    }
  };
  return {
    ascii: compile({ ascii: true, multiline }),
    unicode: compile({ ascii: false, multiline }),
    literal: findRequiredLiteral(pattern),
  };
}

/** Escapes each `{` that does not begin a repetition, which is an error in ripgrep, and which models often write. */
export function escapeLiteralBraces(source: string): string {
  return source.replace(
    /\\(?:[pPxuUb]\{[^}]*\}|[\s\S])|\{(?!\d+(?:,\d*)?\})/g,
    (token) => token === "{" ? "\\{" : token,
  );
}

/** Whether only JavaScript can match a pattern: it has lookaround or references to groups. */
export function needsJavaScript(source: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*(?:\(\?<?[=!]|\\[1-9]|\\k<)/.test(source);
}

/** A group that is not closed yet. */
interface OpenGroup {
  /** Value of the flag `s` outside of it. */
  readonly dotAll: boolean;
  /** Groups that were opened for flags, which apply up to the end of the group, in each of its alternatives. */
  readonly flagGroups: string[];
}

class Translator {
  readonly #pattern: string;
  readonly #target: PatternTarget;
  #dotAll = false;
  #output = "";
  readonly #groups: OpenGroup[] = [{ dotAll: false, flagGroups: [] }];

  constructor(pattern: string, target: PatternTarget) {
    this.#pattern = pattern;
    this.#target = target;
  }

  translate(): string {
    for (let offset = 0; offset < this.#pattern.length;) offset = this.#translateToken(offset);
    if (this.#groups.length > 1) {
      throw new BadRequestError("The pattern is invalid: a group is not closed");
    }
    return this.#output + ")".repeat(this.#groups[0]?.flagGroups.length ?? 0);
  }

  #translateToken(offset: number): number {
    const character = this.#pattern[offset];
    switch (character) {
      case "(":
        return this.#openGroup(offset);
      case ")":
        return this.#closeGroup(offset);
      case "[": {
        const { source, end } = translateClass(this.#pattern, offset, this.#target);
        return this.#append(source, end);
      }
      case ".":
        return this.#append(getDotClass(this.#target, this.#dotAll), offset + 1);
      case "^":
        return this.#append(this.#target.ascii ? "^" : "(?<![^\\n])", offset + 1);
      case "$":
        return this.#append(this.#target.ascii ? "$" : "(?=\\r?(?:\\n|$))", offset + 1);
      case "|": {
        const flagGroups = this.#groups.at(-1)?.flagGroups ?? [];
        const source = `${")".repeat(flagGroups.length)}|${flagGroups.join("")}`;
        return this.#append(source, offset + 1);
      }
      case "\\":
        return this.#translateEscape(offset);
      case "*":
      case "+":
      case "?":
        return this.#append(character, offset + 1);
      case "{": {
        const [repetition = "{"] = /^\{\d+(?:,\d*)?\}/.exec(this.#pattern.slice(offset)) ?? [];
        return this.#append(repetition, offset + repetition.length);
      }
      default:
        return this.#appendLiteral(offset);
    }
  }

  #append(source: string, end: number): number {
    this.#output += source;
    return end;
  }

  #appendLiteral(offset: number): number {
    const { codePoint, end } = readCharacter(this.#pattern, offset);
    if (codePoint === 0x0a && !this.#target.multiline) {
      throw new BadRequestError(
        "The pattern has a line break: set multiline for matches that span lines",
      );
    }
    return this.#append(toEscape(codePoint), end);
  }

  #translateEscape(offset: number): number {
    const named = translateClassEscape(this.#pattern, offset, this.#target);
    if (named) return this.#append(named.source, named.end);
    const [token, name = ""] =
      /^\\(b\{(?:start|end|start-half|end-half)\}|[AzbB<>]|[1-9]\d*|k<\w+>)/
        .exec(this.#pattern.slice(offset, offset + 100)) ?? [];
    if (token === undefined) return this.#appendLiteral(offset);
    if (/^[1-9k]/.test(name)) return this.#append(token, offset + token.length);
    return this.#append(this.#translateAssertion(name), offset + token.length);
  }

  #translateAssertion(name: string): string {
    const word = `[${getWordCharacters(this.#target)}]`;
    const [starts, ends] = [`(?<!${word})(?=${word})`, `(?<=${word})(?!${word})`];
    switch (name) {
      // In a search by lines, each line begins a text.
      case "A":
        return this.#target.multiline ? "(?<![\\s\\S])" : "(?<![^\\n])";
      case "z":
        return "(?![\\s\\S])";
      case "b":
        return this.#target.ascii ? "\\b" : `(?:${starts}|${ends})`;
      case "B":
        return this.#target.ascii ? "\\B" : `(?!${starts}|${ends})`;
      case "b{end}":
      case ">":
        return ends;
      case "b{start-half}":
        return `(?<!${word})`;
      case "b{end-half}":
        return `(?!${word})`;
      default:
        return starts;
    }
  }

  #openGroup(offset: number): number {
    const rest = this.#pattern.slice(offset, offset + 100);
    const [flagGroup, flags = "", end] = /^\(\?([a-zA-Z-]*)([:)])/.exec(rest) ?? [];
    if (flagGroup !== undefined) {
      return this.#applyFlags({ offset, length: flagGroup.length, flags, isScoped: end === ":" });
    }
    this.#groups.push({ dotAll: this.#dotAll, flagGroups: [] });
    const [prefix = "("] = /^\(\?(?:P?<\w+>|<?[=!])/.exec(rest) ?? [];
    return this.#append(prefix.replace("(?P<", "(?<"), offset + prefix.length);
  }

  #applyFlags(
    { offset, length, flags, isScoped }: {
      readonly offset: number;
      readonly length: number;
      readonly flags: string;
      readonly isScoped: boolean;
    },
  ): number {
    if (/[^ismu-]/.test(flags) || /-.*[mu]/.test(flags)) {
      throw new BadRequestError(`The pattern has flags that are not supported here: (?${flags})`);
    }
    const [on = "", off = ""] = flags.split("-");
    if (isScoped) this.#groups.push({ dotAll: this.#dotAll, flagGroups: [] });
    if (on.includes("s")) this.#dotAll = true;
    if (off.includes("s")) this.#dotAll = false;
    const ignoreCase = on.includes("i") ? "i" : off.includes("i") ? "-i" : "";
    // The flag `i` at the start of the pattern is a flag of the whole expression.
    const opensGroup = ignoreCase !== "" && !(offset === 0 && ignoreCase === "i" && !isScoped);
    const group = this.#groups.at(-1);
    if (isScoped) this.#output += `(?${ignoreCase}:`;
    else if (opensGroup && group) {
      this.#output += `(?${ignoreCase}:`;
      group.flagGroups.push(`(?${ignoreCase}:`);
    }
    return offset + length;
  }

  #closeGroup(offset: number): number {
    const group = this.#groups.pop();
    if (!group || this.#groups.length === 0) {
      throw new BadRequestError("The pattern is invalid: a group is not opened");
    }
    this.#dotAll = group.dotAll;
    return this.#append(")".repeat(group.flagGroups.length + 1), offset + 1);
  }
}
