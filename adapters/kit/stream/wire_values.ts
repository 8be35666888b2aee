/**
 * Checks of values in a response.
 *
 * The types of a response are not validated. These functions keep values of another type, such as a number in place of
 * a text, out of events and messages.
 *
 * @module
 */

/** Returns a string unchanged, and `""` for any other value. */
export function textOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns a positive finite number unchanged, and `0` for any other value. */
export function countOrZero(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** Returns the JSON text of a tool call's arguments, which some servers send as a value; empty if there are none. */
export function toArgumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
