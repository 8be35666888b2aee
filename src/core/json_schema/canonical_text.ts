/**
 * Texts that are equal for equal JSON values.
 *
 * @module
 */

import { isRecord, type JsonRecord } from "./json_object.ts";

/** Returns a text that is the same for equal JSON values, and only for these: the order of properties is ignored. */
export function toCanonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, part) => isRecord(part) ? sortProperties(part) : part);
}

function sortProperties(record: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(record).sort(([left], [right]) => left < right ? -1 : 1),
  );
}
