/**
 * Reads values of request bodies.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";

/** Returns all objects within a value that match. */
export function findAll(value: unknown, matches: (object: JsonObject) => boolean): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap((item) => findAll(item, matches));
  if (!isJsonObject(value)) return [];
  const inner = Object.values(value).flatMap((member) => findAll(member, matches));
  return matches(value) ? [value, ...inner] : inner;
}

/** Returns an object, and an empty one for another value. */
export function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns the objects of a list. */
export function asList(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Returns the items of a list as texts. */
export function asTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Whether no object within a value has one of the keywords. */
export function hasNoKeyword(value: unknown, keywords: readonly string[]): boolean {
  return findAll(value, (object) => keywords.some((keyword) => keyword in object)).length === 0;
}
