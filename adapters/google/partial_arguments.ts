/**
 * Assembles the arguments of a function call from parts, each with its path.
 *
 * @module
 */

import { textOrEmpty } from "../kit/stream/wire_values.ts";
import type { WirePartialArg } from "./wire.ts";

/** An object or an array; objects have no prototype, so names such as `__proto__` are ordinary keys. */
type Container = { [key: string]: unknown } | unknown[];

/** Arguments assembled from parts. */
export class PartialArguments {
  readonly #root: Container = Object.create(null);

  /** Sets the value at the part's path; a string is appended to the string that is already there. */
  add(part: WirePartialArg): void {
    const path = parsePath(textOrEmpty(part.jsonPath));
    const last = path.pop();
    if (last === undefined) return;
    let container = this.#root;
    for (const [depth, key] of path.entries()) {
      container = getOrCreateContainer(container, key, path[depth + 1] ?? last);
    }
    const previous = getValue(container, last);
    setValue(container, last, readValue(part, typeof previous === "string" ? previous : ""));
  }

  /** Returns the arguments as a JSON value. */
  toJSON(): unknown {
    return this.#root;
  }
}

/** Parses a path: `$.a['b c'][0]` gives `["a", "b c", 0]`. */
function parsePath(path: string): (string | number)[] {
  const steps = path.matchAll(
    /\.?([^.[\]$'"]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/g,
  );
  return [...steps].map(([, name, index, single, double]) =>
    index === undefined ? (name ?? single ?? double ?? "").replace(/\\(.)/g, "$1") : Number(index)
  );
}

function getOrCreateContainer(
  parent: Container,
  key: string | number,
  next: string | number,
): Container {
  const existing = getValue(parent, key);
  if (typeof existing === "object" && existing !== null) return existing as Container;
  const created: Container = typeof next === "number" ? [] : Object.create(null);
  setValue(parent, key, created);
  return created;
}

function getValue(container: Container, key: string | number): unknown {
  return Array.isArray(container) ? container[Number(key)] : container[key];
}

/** Sets a value; an index beyond the end of an array appends, so a wrong index cannot allocate a huge array. */
function setValue(container: Container, key: string | number, value: unknown): void {
  if (!Array.isArray(container)) container[key] = value;
  else if (Number(key) < container.length) container[Number(key)] = value;
  else container.push(value);
}

function readValue(part: WirePartialArg, previousText: string): unknown {
  const { stringValue, numberValue, boolValue } = part;
  return stringValue === undefined
    ? numberValue ?? boolValue ?? null
    : previousText + textOrEmpty(stringValue);
}
