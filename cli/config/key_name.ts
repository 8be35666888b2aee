/**
 * Names of keys, such as `ctrl+r`, `shift+tab` and `f2`.
 *
 * @module
 */

import { findSuggestion } from "../command_line/suggestion.ts";

/** Modifiers, in the order of a name. */
const MODIFIERS = ["ctrl", "alt", "shift"] as const;

type Modifier = (typeof MODIFIERS)[number];

/** Keys that are no characters. */
const NAMED_KEYS: readonly string[] = [
  "enter",
  "tab",
  "escape",
  "space",
  "backspace",
  "delete",
  "insert",
  "up",
  "down",
  "left",
  "right",
  "home",
  "end",
  "page_up",
  "page_down",
  ...Array.from({ length: 12 }, (_, index) => `f${index + 1}`),
];

/** Other names of modifiers and keys, as keyboards and other programs write them. */
const ALIASES: Readonly<Record<string, string>> = {
  control: "ctrl",
  option: "alt",
  meta: "alt",
  return: "enter",
  esc: "escape",
  del: "delete",
  ins: "insert",
  pageup: "page_up",
  pagedown: "page_down",
  pgup: "page_up",
  pgdn: "page_down",
};

/** Keys that always have the same effect. */
const FIXED_KEYS: Readonly<Record<string, string>> = {
  "ctrl+c": "it ends the run, and pressed twice the conversation",
  "ctrl+z": "it suspends the program",
};

/** Keys for which a terminal sends the same as for others. */
const SAME_KEYS: Readonly<Record<string, string>> = {
  "ctrl+i": "tab",
  "ctrl+m": "enter",
  "ctrl+[": "escape",
};

/** A name in its usual form, or what is wrong with it, as the end of a sentence. */
export type ParsedKeyName =
  | { readonly type: "key"; readonly name: string }
  | { readonly type: "invalid"; readonly reason: string };

/** Pattern of names, for the JSON Schema of the configuration. */
export const KEY_NAME_PATTERN = "^(\\w+\\+)*(\\w+|\\S)$";

/** Matches a name: modifiers, and a key, which may be `+`. */
const NAME = /^((?:[a-z]+\+)*)([a-z][a-z0-9_]+|\S)$/u;

/** The characters that terminals send together with Ctrl. */
const CONTROL_CHARACTER = /^[a-z@\\\]^_]$/;

/** Parses the name of a key, whose letters may be in upper case: `Ctrl+R` is `ctrl+r`. */
export function parseKeyName(text: string): ParsedKeyName {
  const [, prefix = "", last = ""] = NAME.exec(text.trim().toLowerCase()) ?? [];
  const given = prefix.split("+").filter((word) => word !== "").map(resolveAlias);
  const key = resolveAlias(last);
  const isCharacter = [...key].length === 1;
  if (!given.every(isModifier) || !(isCharacter || NAMED_KEYS.includes(key))) {
    return createInvalid(`is no key${suggestName(text)}`);
  }
  const modifiers = MODIFIERS.filter((modifier) => given.includes(modifier));
  const name = [...modifiers, key].join("+");
  const [fixed, same] = [FIXED_KEYS[name], SAME_KEYS[name]];
  if (fixed !== undefined) return createInvalid(`cannot be changed: ${fixed}`);
  if (same !== undefined) {
    return createInvalid(`is the same key as ${same} in a terminal: write ${same}`);
  }
  if (!isCharacter) return checkNamedKey(name, key);
  const sent = modifiers.filter((modifier) => modifier !== "shift");
  if (sent.length === 0) return createInvalid("is part of a prompt: add ctrl or alt");
  if (sent.includes("ctrl") && !CONTROL_CHARACTER.test(key)) {
    return createInvalid("is a key that terminals do not send: use a letter with ctrl, or alt");
  }
  if (sent.length === modifiers.length) return { type: "key", name };
  const other = [...sent, key].join("+");
  return createInvalid(`is the same key as ${other} in a terminal: write ${other}`);
}

/** Keys that edit every prompt. */
const EDITING_KEYS: readonly string[] = "space backspace delete left right up down home end".split(
  " ",
);

function checkNamedKey(name: string, key: string): ParsedKeyName {
  const isText = name === key || name === "shift+space";
  if (isText && EDITING_KEYS.includes(key)) {
    return createInvalid("edits the prompt: add ctrl or alt");
  }
  return { type: "key", name };
}

function resolveAlias(word: string): string {
  return Object.hasOwn(ALIASES, word) ? ALIASES[word] ?? word : word;
}

function isModifier(word: string): word is Modifier {
  return MODIFIERS.some((modifier) => modifier === word);
}

/** Suggests a name, also for `ctrl-r` and `C-r`, as other programs write it. */
function suggestName(text: string): string {
  const words = text.trim().toLowerCase().split(/[-+\s]+/).filter((word) => word !== "");
  const key = words.pop() ?? "";
  const name = [
    ...words.map((word) => SHORT_MODIFIERS[word] ?? findName(word, MODIFIERS)),
    key.length === 1 ? key : findName(key, NAMED_KEYS),
  ].join("+");
  const isKey = name !== text && parseKeyName(name).type === "key";
  return isKey ? `. Did you mean ${name}?` : "";
}

const SHORT_MODIFIERS: Readonly<Record<string, string>> = { c: "ctrl", m: "alt", s: "shift" };

function findName(word: string, names: readonly string[]): string {
  const resolved = resolveAlias(word);
  return names.includes(resolved) ? resolved : findSuggestion(word, names) ?? "?";
}

function createInvalid(reason: string): ParsedKeyName {
  return { type: "invalid", reason };
}
