/**
 * Converts any value to JSON, since the details of tool results are not restricted to JSON values.
 *
 * @module
 */

/** Converts a value to JSON. Never throws: values that JSON cannot represent become text or `null`. */
export function safeStringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    return JSON.stringify(toPlainValue(value, [])) ?? "null";
  }
}

/** Copies a value for JSON: bigints become text, cycles and unreadable objects are replaced by a placeholder. */
function toPlainValue(value: unknown, ancestors: readonly unknown[]): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (ancestors.includes(value)) return "[circular]";
  const path = [...ancestors, value];
  try {
    if (Array.isArray(value)) return value.map((item) => toPlainValue(item, path));
    const members = Object.entries(value).map((
      [key, member],
    ) => [key, toPlainValue(member, path)]);
    return Object.fromEntries(members);
  } catch {
    return "[unreadable]";
  }
}
