/**
 * References within a schema.
 *
 * @module
 */

import type { JsonSchema } from "../../../src/core/json/json.ts";
import { decodePercentEncoded } from "../../../src/core/text/percent_encoding.ts";

/** Returns the value to which a reference such as `#/$defs/name` refers; `undefined` if the schema does not have it. */
export function resolvePointer(root: JsonSchema, reference: string): unknown {
  // As in `#/$defs/List%3CText%3E`.
  const [start, ...steps] = decodePercentEncoded(reference).split("/");
  let target: unknown = start === "#" ? root : undefined;
  for (const step of steps.filter((step) => step !== "")) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    // Members of an object and items of a list, such as the first alternative in `#/properties/name/anyOf/0`.
    target = Object.hasOwn(Object(target), name) ? Object(target)[name] : undefined;
  }
  return target;
}
