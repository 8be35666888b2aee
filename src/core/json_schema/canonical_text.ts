/**
 * Texts that are equal for equal JSON values.
 *
 * @module
 */

import { isRecord, type JsonRecord } from "./json_object.ts";

/** Returns a text that is the same for equal JSON values, and only for these: the order of properties is ignored. */
export function toCanonicalText(value: unknown): string {
  // A sorted copy takes half the time of a `replacer`, which is called for each property.
  return JSON.stringify(sortValue(value));
}

function sortValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortValue);
  if (!isRecord(value)) return value;
  if (typeof value["toJSON"] === "function") return sortValue(toJsonValue(value));
  return sortProperties(value);
}

/** Returns the JSON value of an object with a method for it, such as a `Date`. */
function toJsonValue(value: object): unknown {
  const json: string | undefined = JSON.stringify(value);
  return json === undefined ? undefined : JSON.parse(json);
}

function sortProperties(record: JsonRecord): JsonRecord {
  const keys = Object.keys(record).sort();
  // Of a copy by assignment, the key would be the prototype.
  if (keys.includes("__proto__")) {
    return Object.fromEntries(keys.map((key) => [key, sortValue(record[key])]));
  }
  const sorted: Record<string, unknown> = {};
  for (const key of keys) sorted[key] = sortValue(record[key]);
  return sorted;
}
