/**
 * The notation of keys in the configuration and in texts for the user: `ctrl+c`, `shift+enter`, `f2`.
 *
 * @module
 */

import { type Key, type KeyEvent, NAMED_KEYS, type NamedKey } from "./key_event.ts";

const NAMES: ReadonlySet<string> = new Set(NAMED_KEYS);

/** Other names of keys. */
const ALIASES: ReadonlyMap<string, NamedKey> = new Map([
  ["esc", "escape"],
  ["return", "enter"],
  ["del", "delete"],
  ["ins", "insert"],
  ["pageup", "page_up"],
  ["pagedown", "page_down"],
  ["pgup", "page_up"],
  ["pgdn", "page_down"],
  [" ", "space"],
]);

/** Names of modifiers. */
const MODIFIERS: ReadonlyMap<string, "ctrl" | "alt" | "shift"> = new Map([
  ["ctrl", "ctrl"],
  ["control", "ctrl"],
  ["alt", "alt"],
  ["meta", "alt"],
  ["option", "alt"],
  ["shift", "shift"],
]);

/** Returns the notation of a key, such as `ctrl+c`. `parseKey()` reads it. */
export function formatKey({ name, ctrl, alt, shift }: Key): string {
  return [ctrl && "ctrl", alt && "alt", shift && "shift", name].filter(Boolean).join("+");
}

/** Reads the notation of a key, without regard to case; `undefined` if it is invalid. */
export function parseKey(notation: string): Key | undefined {
  const [name = "", ...modifiers] = splitNotation(notation.trim().toLowerCase()).toReversed();
  const names = modifiers.map((modifier) => MODIFIERS.get(modifier));
  const keyName = ALIASES.get(name) ?? name;
  if (names.includes(undefined)) return undefined;
  if (!NAMES.has(keyName) && Array.from(keyName).length !== 1) return undefined;
  return {
    type: "key",
    name: keyName,
    ctrl: names.includes("ctrl"),
    alt: names.includes("alt"),
    shift: names.includes("shift"),
  };
}

/** Returns the key of an event, with which an action can be found; `undefined` for a pasted text. */
export function toKey(event: KeyEvent): Key | undefined {
  switch (event.type) {
    case "key":
      return event;
    case "character":
      return { type: "key", name: event.text, ctrl: false, alt: false, shift: false };
    case "paste":
      return undefined;
  }
}

/** Splits `ctrl++` into `ctrl` and `+`. */
function splitNotation(notation: string): string[] {
  return notation.match(/[^+]+|(?<=^|\+)\+$/g) ?? [];
}
