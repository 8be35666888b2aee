/**
 * The keys of control sequences. Sources: XTerm Control Sequences by Thomas Dickey, the keyboard protocol of kitty, the
 * key codes of rxvt and the Linux console.
 *
 * @module
 */

import type { KeyEvent, NamedKey } from "./key_event.ts";
import {
  createCodePointKey,
  createKey,
  type Modifiers,
  NO_MODIFIERS,
  parseModifiers,
} from "./modified_key.ts";

/** A control sequence: `ESC [`, parameters, intermediate characters and a final one. */
export interface ControlSequence {
  /** The parameters, such as `1;5`. */
  readonly parameters: string;
  /** Intermediate characters, which key sequences do not have, apart from `$` of rxvt. */
  readonly intermediates: string;
  /** The final character. */
  readonly final: string;
}

/** Keys by the final character of `ESC [ 1 ; modifiers final`, `ESC [ final` and `ESC O final`. */
const KEYS_BY_FINAL: ReadonlyMap<string, NamedKey> = new Map([
  ["A", "up"],
  ["B", "down"],
  ["C", "right"],
  ["D", "left"],
  ["F", "end"],
  ["H", "home"],
  ["P", "f1"],
  ["Q", "f2"],
  ["R", "f3"],
  ["S", "f4"],
]);

/** Keys by the number of `ESC [ number ; modifiers ~`. */
const KEYS_BY_NUMBER: ReadonlyMap<number, NamedKey> = new Map([
  [1, "home"],
  [2, "insert"],
  [3, "delete"],
  [4, "end"],
  [5, "page_up"],
  [6, "page_down"],
  [7, "home"],
  [8, "end"],
  [11, "f1"],
  [12, "f2"],
  [13, "f3"],
  [14, "f4"],
  [15, "f5"],
  [17, "f6"],
  [18, "f7"],
  [19, "f8"],
  [20, "f9"],
  [21, "f10"],
  [23, "f11"],
  [24, "f12"],
]);

/** Keys of the keypad by their number in the protocol of kitty. */
const KEYPAD_KEYS: ReadonlyMap<number, NamedKey> = new Map([
  [57414, "enter"],
  [57417, "left"],
  [57418, "right"],
  [57419, "up"],
  [57420, "down"],
  [57421, "page_up"],
  [57422, "page_down"],
  [57423, "home"],
  [57424, "end"],
  [57425, "insert"],
  [57426, "delete"],
]);

/** Characters of the keypad in the protocol of kitty, from number 57399, except for Enter. */
const KEYPAD_CHARACTERS = "0123456789./*-+\r=,";
const FIRST_KEYPAD_CHARACTER = 57399;

/** Keys of the keypad in application mode, after `ESC O`. */
const APPLICATION_KEYPAD: Readonly<Record<string, string>> = {
  X: "=",
  j: "*",
  k: "+",
  l: ",",
  m: "-",
  n: ".",
  o: "/",
  p: "0",
  q: "1",
  r: "2",
  s: "3",
  t: "4",
  u: "5",
  v: "6",
  w: "7",
  x: "8",
  y: "9",
};

/** Function keys of the Linux console, after `ESC [ [`. */
const LINUX_FUNCTION_KEYS: ReadonlyMap<string, NamedKey> = new Map([
  ["A", "f1"],
  ["B", "f2"],
  ["C", "f3"],
  ["D", "f4"],
  ["E", "f5"],
]);

/** Modifiers of rxvt by the character after the number. */
const RXVT_MODIFIERS: Readonly<Record<string, Modifiers>> = {
  "^": { ...NO_MODIFIERS, ctrl: true },
  "$": { ...NO_MODIFIERS, shift: true },
  "@": { ...NO_MODIFIERS, ctrl: true, shift: true },
};

/** The number before the modifiers and the code point of the key in `ESC [ 27 ; modifiers ; code ~`. */
const MODIFY_OTHER_KEYS = 27;

/** The event of a key that is released, after the modifiers. */
const RELEASED = "3";

/** Returns the key of a control sequence; `undefined` for replies of the terminal, mouse and focus events. */
export function findSequenceKey(sequence: ControlSequence): KeyEvent | undefined {
  const { parameters, intermediates, final } = sequence;
  if (intermediates !== "" || !/^[\d;:]*$/.test(parameters)) return undefined;
  const groups = parameters.split(";").map((group) => group.split(":"));
  const [number = 1, modifierParameter = 1, third = 0] = groups.map(([value = ""]) =>
    value === "" ? undefined : Number(value)
  );
  if (groups[1]?.[1] === RELEASED) return undefined;
  const modifiers = parseModifiers(modifierParameter);
  if (!modifiers) return undefined;
  switch (final) {
    case "~":
      if (number === MODIFY_OTHER_KEYS) return createCodePointKey(third, modifiers);
      return createKnownKey(KEYS_BY_NUMBER.get(number), modifiers);
    case "u":
      return findKittyKey(number, modifiers, toShiftedCode(groups[0]?.[1]));
    case "Z":
      return createKey("tab", { ...modifiers, shift: true });
    case "a":
    case "b":
    case "c":
    case "d":
      return createKnownKey(KEYS_BY_FINAL.get(final.toUpperCase()), { ...modifiers, shift: true });
    case "^":
    case "@":
      return createKnownKey(KEYS_BY_NUMBER.get(number), RXVT_MODIFIERS[final]);
    default:
      return createKnownKey(KEYS_BY_FINAL.get(final), modifiers);
  }
}

/** Returns the key with Shift of rxvt, by the number of its sequence `ESC [ number $`. */
export function findShiftedRxvtKey(number: string): KeyEvent | undefined {
  return createKnownKey(KEYS_BY_NUMBER.get(Number(number)), RXVT_MODIFIERS["$"]);
}

/** Returns the key of `ESC O`, an optional modifier parameter and a final character. */
export function findShiftThreeKey(modifierParameter: string, final: string): KeyEvent | undefined {
  const modifiers = modifierParameter === ""
    ? NO_MODIFIERS
    : parseModifiers(Number(modifierParameter));
  if (!modifiers) return undefined;
  if (final === "M") return createKey("enter", modifiers);
  // Arrow keys of rxvt with Ctrl.
  if ("abcd".includes(final)) {
    return createKnownKey(KEYS_BY_FINAL.get(final.toUpperCase()), { ...modifiers, ctrl: true });
  }
  const character = APPLICATION_KEYPAD[final];
  if (character !== undefined) return createCodePointKey(character.charCodeAt(0), modifiers);
  return createKnownKey(KEYS_BY_FINAL.get(final), modifiers);
}

/** Returns the function key of the Linux console after `ESC [ [`. */
export function findLinuxKey(final: string): KeyEvent | undefined {
  return createKnownKey(LINUX_FUNCTION_KEYS.get(final), NO_MODIFIERS);
}

function createKnownKey(
  name: NamedKey | undefined,
  modifiers: Modifiers | undefined,
): KeyEvent | undefined {
  return name && createKey(name, modifiers);
}

function findKittyKey(
  code: number,
  modifiers: Modifiers,
  shiftedCode: number | undefined,
): KeyEvent | undefined {
  const name = KEYPAD_KEYS.get(code);
  if (name) return createKey(name, modifiers);
  const character = KEYPAD_CHARACTERS[code - FIRST_KEYPAD_CHARACTER];
  if (character !== undefined) return createCodePointKey(character.charCodeAt(0), modifiers);
  return createCodePointKey(code, modifiers, shiftedCode);
}

function toShiftedCode(parameter: string | undefined): number | undefined {
  return parameter === undefined || parameter === "" ? undefined : Number(parameter);
}
