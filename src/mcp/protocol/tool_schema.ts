/**
 * Makes the schemas of servers' tools safe.
 *
 * @module
 */

import { isDeeperThan, isJsonObject, type JsonSchema } from "../../core/json/json.ts";
import { formatIgnored, normalizeOnce } from "../../core/schemas/schema.ts";

/** Maximum number of characters of a schema; more would fill the context of a model. */
const MAX_LENGTH = 65_536;

/** Maximum nesting of a schema. */
const MAX_DEPTH = 80;

/** A schema that can be used, or the reason why it cannot, as a sentence fragment after "its schema". */
export type SafeSchema =
  | { readonly schema: JsonSchema; readonly note?: string }
  | { readonly problem: string };

/**
 * Checks the schema of the arguments of a tool. Keywords that are invalid, and references to other documents, are removed
 * and noted: a provider may refuse a complete request for one of them.
 */
export function toSafeSchema(schema: unknown): SafeSchema {
  if (!isJsonObject(schema)) return { problem: "is not an object" };
  if (isDeeperThan(schema, MAX_DEPTH)) {
    return { problem: `is nested more than ${MAX_DEPTH} levels deep` };
  }
  const { type = "object" } = schema;
  if (type !== "object") return { problem: "is not for objects" };
  const { length } = JSON.stringify(schema);
  if (length > MAX_LENGTH) {
    return { problem: `has ${length} characters; the maximum is ${MAX_LENGTH}` };
  }
  const complete = { ...schema, type };
  const { schema: normalized, ignored } = normalizeOnce(complete);
  return ignored.length === 0
    ? { schema: complete }
    : { schema: normalized, note: `is used without its invalid parts: ${formatIgnored(ignored)}` };
}
