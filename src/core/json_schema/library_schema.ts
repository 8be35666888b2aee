/**
 * Detection of schemas of validation libraries.
 *
 * @module
 */

import { hasMethods } from "./has_methods.ts";

/**
 * Whether a value is a validator, of Standard Schema or any other library, rather than a JSON Schema, which is only data.
 * A JSON Schema that Zod creates has the validator as a hidden property.
 */
export function isLibrarySchema(value: unknown): boolean {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  if (Array.isArray(value)) return false;
  if (hasMethods(value)) return true;
  return Object.getOwnPropertyDescriptor(value, "~standard")?.enumerable ?? "~standard" in value;
}
