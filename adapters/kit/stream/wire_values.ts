/**
 * Values as they come over the wire: of the right type, or nothing.
 *
 * Types of what a server sends are hopes. Whatever becomes part of an event passes here, so that a number where a
 * text was due cannot get into a message.
 *
 * @module
 */

/** A text; anything else is none. */
export function textOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A count; anything else is zero. */
export function countOrZero(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
