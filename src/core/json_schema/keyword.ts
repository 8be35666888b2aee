/**
 * The interface between the compiler of schemas and the keywords.
 *
 * @module
 */

import type { Check, SchemaNode } from "./evaluation.ts";
import { isRecord, type JsonRecord } from "./json_object.ts";

/** The schema that a keyword is part of. */
export interface KeywordContext {
  /** The schema. */
  readonly schema: JsonRecord;
  /** Compiles a subschema in the value of a keyword; `keys` lead to it there. */
  compile(subschema: unknown, keyword: string, ...keys: (string | number)[]): SchemaNode;
  /**
   * Compiles the schema that a reference refers to.
   *
   * @throws {KeywordError} If the document does not contain it.
   */
  compileReference(reference: string): SchemaNode;
}

/**
 * Compiles a keyword with its value, which is not `undefined`. Returns no check if every value is valid, or if another
 * keyword includes this one. Throws a {@linkcode KeywordError} if the keyword must be ignored.
 */
export type Keyword = (value: unknown, context: KeywordContext) => Check | undefined;

/** Why a keyword is ignored: its value violates the standard, or checking it is not supported. */
export type KeywordProblem = "invalid" | "unsupported";

/** A keyword cannot be compiled. The message is a fragment, such as `must be a number`. */
export class KeywordError extends Error {
  /** Why it is ignored. */
  readonly problem: KeywordProblem;

  constructor(problem: KeywordProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/** Returns a value that must be a number. */
export function expectNumber(value: unknown): number {
  if (typeof value === "number") return value;
  throw new KeywordError("invalid", "must be a number");
}

/** Returns a value that must be a number of items, characters or properties. */
export function expectCount(value: unknown): number {
  if (typeof value === "number" && value >= 0) return value;
  throw new KeywordError("invalid", "must be a number of at least 0");
}

/** Returns a value that must be a list. */
export function expectList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new KeywordError("invalid", "must be a list");
}

/** Returns a value that must be a list of property names. */
export function expectNames(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw new KeywordError("invalid", "must be a list of property names");
}

/** Returns the properties of a value that must be an object. */
export function expectEntries(value: unknown): readonly (readonly [string, unknown])[] {
  if (isRecord(value)) return Object.entries(value).filter(([, member]) => member !== undefined);
  throw new KeywordError("invalid", "must be an object");
}

/** Formats a number with a noun: `1 item`, `2 items`, `0 properties`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`.replace(/ys$/, "ies")}`;
}
