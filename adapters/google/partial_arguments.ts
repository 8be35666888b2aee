/**
 * Arguments of a function call out of pieces, each with its path.
 *
 * @module
 */

import { textOrEmpty } from "../kit/stream/wire_values.ts";
import type { WirePartialArg } from "./wire.ts";

/** An object or an array; objects have no prototype, so that no name means anything. */
type Container = { [key: string]: unknown } | unknown[];

/** Puts pieces together. */
export class PartialArguments {
  readonly #root: Container = Object.create(null);

  /** Puts a piece in its place; a text goes on where it was. */
  add(piece: WirePartialArg): void {
    const path = parsePath(textOrEmpty(piece.jsonPath));
    const last = path.pop();
    if (last === undefined) return;
    let container = this.#root;
    for (const [depth, key] of path.entries()) {
      container = getOrCreateContainer(container, key, path[depth + 1] ?? last);
    }
    const before = getValue(container, last);
    setValue(container, last, readValue(piece, typeof before === "string" ? before : ""));
  }

  /** The arguments as JSON. */
  toJSON(): unknown {
    return this.#root;
  }
}

/** `$.a['b c'][0]` becomes `["a", "b c", 0]`. */
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
  const present = getValue(parent, key);
  if (typeof present === "object" && present !== null) return present as Container;
  const created: Container = typeof next === "number" ? [] : Object.create(null);
  setValue(parent, key, created);
  return created;
}

function getValue(container: Container, key: string | number): unknown {
  return Array.isArray(container) ? container[Number(key)] : container[key];
}

/** Beyond the end of an array means its end: a wrong index must not make a huge one. */
function setValue(container: Container, key: string | number, value: unknown): void {
  if (!Array.isArray(container)) container[key] = value;
  else if (Number(key) < container.length) container[Number(key)] = value;
  else container.push(value);
}

function readValue(piece: WirePartialArg, before: string): unknown {
  const { stringValue, numberValue, boolValue } = piece;
  return stringValue === undefined
    ? numberValue ?? boolValue ?? null
    : before + textOrEmpty(stringValue);
}
