/**
 * Keys with modifiers, from the numbers that terminals send.
 *
 * @module
 */

import type { KeyEvent, NamedKey } from "./key_event.ts";

/** Modifier keys. */
export interface Modifiers {
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
}

/** No modifier key. */
export const NO_MODIFIERS: Modifiers = { ctrl: false, alt: false, shift: false };

/** Keys whose code point is a control character. */
const CONTROL_KEYS: ReadonlyMap<number, NamedKey> = new Map([
  [8, "backspace"],
  [9, "tab"],
  [13, "enter"],
  [27, "escape"],
  [127, "backspace"],
]);

/** Creates the event of a named key. */
export function createKey(name: string, modifiers: Partial<Modifiers> = {}): KeyEvent {
  return { type: "key", name, ...NO_MODIFIERS, ...modifiers };
}

/** Creates the event of a character: text, unless Ctrl or Alt is pressed. */
export function createCharacterKey(
  character: string,
  modifiers: Modifiers = NO_MODIFIERS,
): KeyEvent {
  if (!modifiers.ctrl && !modifiers.alt) return { type: "character", text: character };
  if (character === " ") return createKey("space", modifiers);
  const name = character.toLowerCase();
  return createKey(name, { ...modifiers, shift: modifiers.shift || name !== character });
}

/** Creates the event of a control character in the input, other than Escape. */
export function createControlKey(code: number, { alt }: Pick<Modifiers, "alt">): KeyEvent {
  // Some terminals send 8 for Ctrl+Backspace, others for Backspace.
  const name = code === 8 ? undefined : CONTROL_KEYS.get(code);
  if (name) return createKey(name, { alt });
  if (code === 0) return createKey("space", { ctrl: true, alt });
  // Ctrl subtracts 64 from the code of the character.
  return createKey(String.fromCharCode(code + 64).toLowerCase(), { ctrl: true, alt });
}

/** Creates the event of a key that the terminal sends as the code point of its character. */
export function createCodePointKey(
  code: number,
  modifiers: Modifiers,
  shiftedCode?: number,
): KeyEvent | undefined {
  const name = CONTROL_KEYS.get(code);
  if (name) return createKey(name, modifiers);
  const isCharacter = (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code < 0xd800) ||
    (code >= 0xf900 && code < 0xf0000);
  if (!isCharacter) return undefined;
  const character = String.fromCodePoint(code);
  const isText = !modifiers.ctrl && !modifiers.alt;
  if (!isText || !modifiers.shift) return createCharacterKey(character, modifiers);
  const isShiftedValid = shiftedCode !== undefined && shiftedCode >= 0x20 && shiftedCode < 0xf0000;
  const shifted = isShiftedValid ? String.fromCodePoint(shiftedCode) : character.toUpperCase();
  return { type: "character", text: shifted };
}

/** Bits of a modifier parameter, which is their sum plus one. */
const SHIFT = 1;
const ALT = 2;
const CTRL = 4;
const META = 32;
/** Super and Hyper, whose keys belong to the window manager. */
const OTHER = 8 | 16;

/**
 * Reads a modifier parameter of xterm and kitty: 5 is Ctrl. `undefined` for keys with modifiers that the program does
 * not know.
 */
export function parseModifiers(parameter: number): Modifiers | undefined {
  const bits = Math.max(parameter - 1, 0);
  if ((bits & OTHER) !== 0) return undefined;
  return {
    ctrl: (bits & CTRL) !== 0,
    alt: (bits & (ALT | META)) !== 0,
    shift: (bits & SHIFT) !== 0,
  };
}
