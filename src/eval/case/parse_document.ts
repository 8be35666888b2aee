/**
 * YAML and JSON with the lines of their values.
 *
 * @module
 */

import type { Document } from "yaml";
import { BadRequestError } from "../../core/errors.ts";
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

/** Aliases may multiply the size of a document up to this number of nodes. */
const MAX_ALIASES = 100;

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
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return { type: "document", value, findLine: (path) => toLine(findOffset(document, path)) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { type: "invalid", problems: [{ line: 1, message }] };
  }
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
