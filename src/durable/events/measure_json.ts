/**
 * The size of JSON values in memory.
 *
 * @module
 */

import type { JsonValue } from "../../core/json/json.ts";

/** Characters that count for each value, whatever it is. */
const VALUE_LENGTH = 8;

/** Returns about the number of characters of a value as JSON, without creating it. */
export function measureJson(root: JsonValue): number {
  let length = 0;
  const values: JsonValue[] = [root];
  for (let value; (value = values.pop()) !== undefined;) {
    length += VALUE_LENGTH;
    if (typeof value === "string") length += value.length;
    else if (Array.isArray(value)) { for (const member of value) values.push(member); }
    else if (typeof value === "object" && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        length += name.length;
        values.push(member);
      }
    }
  }
  return length;
}
