/**
 * Where two JSON values differ, for a person to read.
 *
 * @module
 */

import { isJsonObject, type JsonValue } from "../core/json.ts";

/** One place where two values differ; what is not there is `undefined`. */
export interface Difference {
  /** The way to it: `messages[2].content`. */
  readonly path: string;
  /** What was recorded. */
  readonly recorded: JsonValue | undefined;
  /** What is there now. */
  readonly actual: JsonValue | undefined;
}

/** How many differences are written out. */
const MAX_DIFFERENCES = 8;
/** How much of a long text is shown, and how much of that stands before the difference. */
const MAX_TEXT_LENGTH = 120;
const CONTEXT_LENGTH = 40;

/** Finds the places where two values differ; the smallest parts that do. */
export function findDifferences(
  recorded: JsonValue | undefined,
  asked: JsonValue | undefined,
  path = "",
): Difference[] {
  if (Object.is(recorded, asked)) return [];
  if (Array.isArray(recorded) && Array.isArray(asked)) {
    const length = Math.max(recorded.length, asked.length);
    return Array.from({ length }, (_, index) => `[${index}]`)
      .flatMap((step, index) => findDifferences(recorded[index], asked[index], path + step));
  }
  if (isJsonObject(recorded) && isJsonObject(asked)) {
    const names = new Set([...Object.keys(recorded), ...Object.keys(asked)]);
    return [...names].flatMap((name) =>
      findDifferences(getMember(recorded, name), getMember(asked, name), appendPath(path, name))
    );
  }
  return [{ path, recorded, actual: asked }];
}

/** How much differs, in characters: a word within a text counts less than a message that is not there. */
export function measureDistance(found: readonly Difference[]): number {
  let amount = 0;
  for (const { recorded, actual: asked } of found) {
    const one = toText(recorded);
    const other = toText(asked);
    const same = countEqualAtStart(one, other);
    amount += Math.max(one.length, other.length) - same -
      countEqualAtEnd(one.slice(same), other.slice(same));
  }
  return amount;
}

/** Writes differences as lines, the first few of them. */
export function formatDifferences(found: readonly Difference[]): string {
  const lines = found.slice(0, MAX_DIFFERENCES).map(({ path, recorded, actual: asked }) => {
    const [was, is] = formatPair(recorded, asked);
    return `  ${path || "the body"}\n    was  ${was}\n    is   ${is}`;
  });
  const more = found.length - lines.length;
  return [...lines, ...more > 0 ? [`  and ${more} more`] : []].join("\n");
}

function formatPair(
  recorded: JsonValue | undefined,
  asked: JsonValue | undefined,
): readonly [string, string] {
  if (typeof recorded === "string" && typeof asked === "string") {
    const from = Math.max(0, countEqualAtStart(recorded, asked) - CONTEXT_LENGTH);
    return [quoteExcerpt(recorded, from), quoteExcerpt(asked, from)];
  }
  return [formatValue(recorded), formatValue(asked)];
}

function countEqualAtStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}

function countEqualAtEnd(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one.at(-1 - length) === other.at(-1 - length)) length++;
  return length;
}

function toText(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}

/** The part of a text that matters; an ellipsis for each part that is left out. */
function quoteExcerpt(text: string, from: number): string {
  const end = from + MAX_TEXT_LENGTH;
  const part = JSON.stringify(text.slice(from, end).toWellFormed());
  return `${from > 0 ? "…" : ""}${part}${end < text.length ? "…" : ""}`;
}

function formatValue(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return quoteExcerpt(value, 0);
  const text = JSON.stringify(value);
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
}

function getMember(
  value: { readonly [name: string]: JsonValue },
  name: string,
): JsonValue | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function appendPath(path: string, name: string): string {
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}
