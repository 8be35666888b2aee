/**
 * YAML and JSON with the lines of their values.
 *
 * @module
 */

import type { Document } from "yaml";
import { BadRequestError } from "../../core/errors/errors.ts";
import { isMissingPermission } from "../../platform/system_error.ts";
import { importYaml } from "./yaml_package.ts";

/** A problem in a document. */
export interface DocumentProblem {
  /** Number of the line, from 1. */
  readonly line: number;
  /** Description as a fragment. */
  readonly message: string;
}

/** A parsed document, or the problems that prevent parsing. */
export type ParsedDocument =
  | {
    readonly type: "document";
    /** The value. */
    readonly value: unknown;
    /** Returns the line of the value at a path of keys and indices, or of the nearest value above it. */
    readonly findLine: (path: readonly string[]) => number;
  }
  | { readonly type: "invalid"; readonly problems: readonly DocumentProblem[] };

/** Values and characters of a document whose aliases are replaced: more than any set has. */
const MAX_SIZE = 50_000_000;

/** The parser recurses, and reports the error of the runtime for a document that is nested too deep. */
const STACK_ERROR = /stack (?:size|overflow)/i;

/** Parses YAML 1.2, of which JSON is a part. Keys must be unique. */
export async function parseDocument(text: string): Promise<ParsedDocument> {
  const { LineCounter, parseDocument: parse } = await importYaml();
  const lines = new LineCounter();
  const document = parseWithPermission(() =>
    // Warnings would be logged.
    parse(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" })
  );
  const toLine = (offset: number) => lines.linePos(offset).line;
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ pos, code, message }) => ({
      line: toLine(pos[0]),
      message: describeError(code, message),
    }));
    return { type: "invalid", problems };
  }
  try {
    // Its own limit would refuse a budget that more than 100 cases share.
    const value: unknown = document.toJS({ maxAliasCount: -1 });
    if (measureSize(value) > MAX_SIZE) {
      const message = "the document is too large when its aliases are replaced";
      return { type: "invalid", problems: [{ line: 1, message }] };
    }
    return { type: "document", value, findLine: (path) => toLine(findOffset(document, path)) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { type: "invalid", problems: [{ line: 1, message }] };
  }
}

/**
 * Returns the number of values and characters of a value. Objects that aliases share count each time, but are measured once,
 * so that the time is linear; one that contains itself is infinite.
 */
function measureSize(value: unknown, sizes: Map<object, number> = new Map()): number {
  if (typeof value === "string") return 1 + value.length;
  if (typeof value !== "object" || value === null) return 1;
  const known = sizes.get(value);
  if (known !== undefined) return known;
  sizes.set(value, Infinity);
  const size = Object.entries(value).reduce(
    (sum, [name, member]) => sum + name.length + measureSize(member, sizes),
    1,
  );
  sizes.set(value, size);
  return size;
}

/** Replaces advice about the functions of the parser. */
function describeError(code: string, message: string): string {
  if (code === "MULTIPLE_DOCS") return "the file has several documents: write all cases in one";
  return STACK_ERROR.test(message) ? "the document is nested too deep" : message;
}

/** The build of the parser for Node and Deno reads a variable to enable its log. */
function parseWithPermission<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (cause) {
    if (!isMissingPermission(cause)) throw cause;
    throw new BadRequestError(
      "The parser of YAML and JSON reads a variable: allow it with --allow-env=LOG_TOKENS,LOG_STREAM",
      { cause },
    );
  }
}

function findOffset(document: Document.Parsed, path: readonly string[]): number {
  for (let length = path.length; length > 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length).map(toKey), true);
    if (hasRange(node)) return node.range[0];
  }
  return document.contents?.range[0] ?? 0;
}

/** Returns an index for digits; a mapping finds a numeric key by its text, too. */
function toKey(segment: string): string | number {
  return /^\d+$/.test(segment) ? Number(segment) : segment;
}

function hasRange(node: unknown): node is { readonly range: readonly [number, number, number] } {
  return typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range);
}
