/**
 * Detection of schemas of validation libraries.
 *
 * @module
 */

/**
 * Whether a value is a validator that implements Standard Schema rather than a JSON Schema. A JSON Schema that Zod
 * creates has the validator as a hidden property.
 */
export function isLibrarySchema(value: unknown): boolean {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  if (!("~standard" in value)) return false;
  return Object.getOwnPropertyDescriptor(value, "~standard")?.enumerable ?? true;
}
