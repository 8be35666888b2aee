/**
 * Positions in the events of a reply.
 *
 * @module
 */

import { textOrEmpty } from "../../kit/stream/wire_values.ts";

/** Reads the index of a call, which some servers write as a text; `undefined` if there is none. */
export function readIndex(index: unknown): number | undefined {
  if (typeof index === "number") return index;
  return /^\d+$/.test(textOrEmpty(index)) ? Number(index) : undefined;
}
