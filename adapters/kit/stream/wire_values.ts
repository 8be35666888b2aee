/**
 * Checks of values in a response.
 *
 * The types of a response are not validated. These functions keep values of another type, such as a number in place of
 * a text, out of events and messages: content of another type is an error, and facts about it, such as an id, are left out.
 *
 * @module
 */

import { isJsonObject } from "../../../src/core/json/json.ts";
import { restoreDigits } from "../../../src/core/json/parsed_problem.ts";

/**
 * Returns content that is text, and `""` for missing content.
 *
 * @throws {TypeError} When the content is of another type; the reply ends with a `stream_error` that shows the event.
 */
export function readText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  throw new TypeError(`Expected a text, not a ${typeof value}`);
}

/**
 * Returns a list, and an empty one for a missing list.
 *
 * @throws {TypeError} When the value is of another type; the reply ends with a `stream_error` that shows the event.
 */
export function readList<Item>(value: readonly Item[] | null | undefined): readonly Item[] {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null) return [];
  throw new TypeError(`Expected a list, not a ${typeof value}`);
}

/**
 * Returns an object, and `undefined` for a missing one.
 *
 * @throws {TypeError} When the value is of another type; the reply ends with a `stream_error` that shows the event.
 */
export function readObject<Value extends object>(
  value: Value | null | undefined,
): Value | undefined {
  if (isJsonObject(value)) return value;
  if (value === undefined || value === null) return undefined;
  throw new TypeError(`Expected an object, not a ${typeof value}`);
}

/** Returns a string unchanged, and `""` for any other value. */
export function textOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns the objects of a list, and an empty list for any other value. */
export function objectsOrEmpty<Item extends object>(
  value: readonly Item[] | null | undefined,
): readonly Item[] {
  const items: readonly Item[] = Array.isArray(value) ? value : [];
  return items.filter((item) => isJsonObject(item));
}

/** Returns a positive finite number unchanged, and `0` for any other value. */
export function countOrZero(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/**
 * Returns the JSON text of a tool call's arguments, which some servers send as a value; empty if there are none. `source`
 * is the JSON text that contains the value: integers with more digits than a number keeps are written as they are there, so
 * that the call is refused.
 */
export function toArgumentsText(value: unknown, source = ""): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  return restoreDigits(JSON.stringify(value), source);
}
