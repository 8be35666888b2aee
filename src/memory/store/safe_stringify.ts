/**
 * JSON of anything, since tools put anything into the details of their results.
 *
 * @module
 */

/** A value as JSON; never throws. What JSON cannot carry becomes text, or `null`. */
export function safeStringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    return JSON.stringify(toPlainValue(value, [])) ?? "null";
  }
}

/** A copy that JSON takes: big integers as text, circles cut, members that throw left out. */
function toPlainValue(value: unknown, above: readonly unknown[]): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (above.includes(value)) return "[circular]";
  const inside = [...above, value];
  try {
    if (Array.isArray(value)) return value.map((item) => toPlainValue(item, inside));
    const members = Object.entries(value).map((
      [key, member],
    ) => [key, toPlainValue(member, inside)]);
    return Object.fromEntries(members);
  } catch {
    return "[unreadable]";
  }
}
