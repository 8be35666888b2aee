/**
 * Names values of the wrong type in messages.
 *
 * @module
 */

import { isThenable } from "./refuse_promise.ts";

/** Returns a number or a boolean as text, a string in quotes, and the kind of any other value. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return "an array";
  if (isThenable(value)) return "a promise";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : String(value);
}
