/**
 * Finds and formats the differences between two JSON values.
 *
 * @module
 */

import { isJsonObject, type JsonValue } from "../core/json/json.ts";

/** A path at which two values differ; a missing value is `undefined`. */
export interface Difference {
  /** Path such as `messages[2].content`; empty for the complete value. */
  readonly path: string;
  readonly recorded: JsonValue | undefined;
  readonly actual: JsonValue | undefined;
}

const MAX_DIFFERENCES = 8;

/** Maximum length of an excerpt, in characters. */
const MAX_TEXT_LENGTH = 120;

/** Number of characters of an excerpt before the difference. */
const CONTEXT_LENGTH = 40;

/** Finds the smallest parts in which two values differ. */
export function findDifferences(
  recorded: JsonValue | undefined,
  actual: JsonValue | undefined,
  path = "",
): Difference[] {
  if (Object.is(recorded, actual)) return [];
  if (Array.isArray(recorded) && Array.isArray(actual)) {
    const length = Math.max(recorded.length, actual.length);
    return Array.from({ length }, (_, index) => `[${index}]`)
      .flatMap((step, index) => findDifferences(recorded[index], actual[index], path + step));
  }
  if (isJsonObject(recorded) && isJsonObject(actual)) {
    const names = new Set([...Object.keys(recorded), ...Object.keys(actual)]);
    return [...names].flatMap((name) =>
      findDifferences(getMember(recorded, name), getMember(actual, name), appendPath(path, name))
    );
  }
  return [{ path, recorded, actual }];
}

/** Counts the characters that differ, so that a changed word weighs less than a missing message. */
export function measureDistance(differences: readonly Difference[]): number {
  let distance = 0;
  for (const difference of differences) {
    const recorded = toText(difference.recorded);
    const actual = toText(difference.actual);
    const prefix = countEqualAtStart(recorded, actual);
    distance += Math.max(recorded.length, actual.length) - prefix -
      countEqualAtEnd(recorded.slice(prefix), actual.slice(prefix));
  }
  return distance;
}

/** Formats the first differences, three lines each, and counts the others. */
export function formatDifferences(differences: readonly Difference[]): string {
  const lines = differences.slice(0, MAX_DIFFERENCES).map(({ path, recorded, actual }) => {
    const [before, after] = formatPair(recorded, actual);
    return `  ${path || "the body"}\n    recorded  ${before}\n    actual    ${after}`;
  });
  const omitted = differences.length - lines.length;
  return [...lines, ...omitted > 0 ? [`  and ${omitted} more`] : []].join("\n");
}

function formatPair(
  recorded: JsonValue | undefined,
  actual: JsonValue | undefined,
): readonly [string, string] {
  if (typeof recorded === "string" && typeof actual === "string") {
    const start = Math.max(0, countEqualAtStart(recorded, actual) - CONTEXT_LENGTH);
    return [quoteExcerpt(recorded, start), quoteExcerpt(actual, start)];
  }
  return [formatValue(recorded), formatValue(actual)];
}

function countEqualAtStart(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length++;
  return length;
}

function countEqualAtEnd(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left.at(-1 - length) === right.at(-1 - length)) length++;
  return length;
}

function toText(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}

/** Quotes a part of a text, with an ellipsis at each end that is cut. */
function quoteExcerpt(text: string, start: number): string {
  const end = start + MAX_TEXT_LENGTH;
  const excerpt = JSON.stringify(text.slice(start, end).toWellFormed());
  return `${start > 0 ? "…" : ""}${excerpt}${end < text.length ? "…" : ""}`;
}

function formatValue(value: JsonValue | undefined): string {
  if (value === undefined) return "(missing)";
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
