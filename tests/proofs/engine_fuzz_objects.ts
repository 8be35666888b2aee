/**
 * Finds objects that two values share, and changes values in place.
 *
 * @module
 */

/** Adds all objects that a value consists of, without errors, which are values themselves, and functions. */
export function collectObjects(value: unknown, objects: Set<object>): Set<object> {
  if (typeof value !== "object" || value === null || objects.has(value)) return objects;
  try {
    if (value instanceof Error || value instanceof Promise) return objects;
    objects.add(value);
    for (const member of Object.values(value)) collectObjects(member, objects);
  } catch {
    // A value whose properties cannot be read has no members to share.
  }
  return objects;
}

/** Returns the text of a member of `value` that is one of the objects. */
export function findShared(
  value: unknown,
  objects: ReadonlySet<object>,
): string | undefined {
  for (const member of collectObjects(value, new Set())) {
    if (objects.has(member)) return toText(member);
  }
  return undefined;
}

/** Changes all members of a value in place, without errors. */
export function scribble(value: unknown, seen = new Set<object>()): void {
  if (typeof value !== "object" || value === null || value instanceof Error) return;
  if (seen.has(value)) return;
  seen.add(value);
  for (const name of Object.keys(value)) {
    const members = value as Record<string, unknown>;
    scribble(members[name], seen);
    if (typeof members[name] !== "object") members[name] = "scribbled";
  }
  if (Array.isArray(value)) value.push("scribbled");
}

/** Returns a value as text for logs: JSON, with a description of what is no JSON. */
export function toText(value: unknown): string {
  const parents: object[] = [];
  try {
    const text = JSON.stringify(value, function (this: object, _name, member: unknown) {
      if (typeof member === "bigint" || typeof member === "symbol") return String(member);
      if (typeof member !== "object" || member === null) return member;
      while (parents.length > 0 && parents.at(-1) !== this) parents.pop();
      if (parents.includes(member)) return "cycle";
      parents.push(member);
      return member;
    });
    return text ?? String(value);
  } catch {
    return "unreadable";
  }
}

/** Returns the path of the first member that JSON cannot represent; errors have a JSON form. */
export function findNonJson(
  value: unknown,
  path = "value",
  parents: readonly object[] = [],
): string | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : `${path} is ${value}`;
    case "object":
      break;
    default:
      return `${path} is a ${typeof value}`;
  }
  if (value === null || value instanceof Error) return undefined;
  if (parents.includes(value)) return `${path} is a cycle`;
  const prototype = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) {
    return `${path} is a ${prototype.constructor.name}`;
  }
  for (const [name, member] of Object.entries(value)) {
    const found = findNonJson(member, `${path}.${name}`, [...parents, value]);
    if (found) return found;
  }
  return undefined;
}
