/**
 * Which JSON Schemas a provider can hold a reply to.
 *
 * @module
 */

import { isJsonObject } from "../../src/core/json.ts";

/**
 * Tells whether a schema is strict in OpenAI's sense: every object is closed and requires all its properties. Others
 * are taken as well, but not enforced.
 */
export function isStrictSchema(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictSchema);
  if (!isJsonObject(schema)) return true;
  return isClosed(schema) && Object.values(schema).every(isStrictSchema);
}

function isClosed(schema: Readonly<Record<string, unknown>>): boolean {
  const { type, properties, required, additionalProperties } = schema;
  if (type !== "object") return true;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  return additionalProperties === false &&
    names.every((name) => Array.isArray(required) && required.includes(name));
}
