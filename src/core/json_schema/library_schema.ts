/**
 * Recognizes the schemas of validation libraries.
 *
 * @module
 */

import { isRecord } from "./json_object.ts";

/**
 * Whether a value is a validator, of Standard Schema or any other library, rather than a JSON Schema, which is only data.
 * A JSON Schema that Zod creates has the validator as a hidden property.
 */
export function isLibrarySchema(value: unknown): boolean {
  if (typeof value === "function") return true;
  if (!isRecord(value)) return false;
  return Object.getOwnPropertyDescriptor(value, "~standard")?.enumerable ??
    ("~standard" in value || hasMethods(value));
}

/**
 * Whether an object has methods: its own, also hidden ones, or those of its class. No getter is called. Methods of
 * `Object` itself do not count, also not in another realm.
 */
function hasMethods(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return Object.getOwnPropertyNames(value).some((name) =>
    name !== "constructor" &&
    typeof Object.getOwnPropertyDescriptor(value, name)?.value === "function"
  ) || (!!prototype && !!Object.getPrototypeOf(prototype) && hasMethods(prototype));
}
