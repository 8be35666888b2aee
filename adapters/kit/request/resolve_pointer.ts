/**
 * References within a schema.
 *
 * @module
 */

import { isJsonObject, type JsonSchema } from "../../../src/core/json.ts";

/** Returns the value to which a reference such as `#/$defs/name` refers; `undefined` if the schema does not have it. */
export function resolvePointer(root: JsonSchema, reference: string): unknown {
  let target: unknown = root;
  for (const step of reference.replace(/^#\/?/, "").split("/").filter((step) => step !== "")) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    target = isJsonObject(target) && Object.hasOwn(target, name) ? target[name] : undefined;
  }
  return reference.startsWith("#") ? target : undefined;
}
