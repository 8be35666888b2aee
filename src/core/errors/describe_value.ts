/**
 * Names values of the wrong type in messages.
 *
 * @module
 */

import { isThenable } from "./refuse_promise.ts";

/** Maximum length of a quoted text, in characters. */
const MAX_LENGTH = 100;

/** Returns the beginning of a text in quotes, another primitive value as text, and the kind of any other value. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, MAX_LENGTH));
  if (Array.isArray(value)) return "an array";
  if (isThenable(value)) return "a promise";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : String(value);
}
