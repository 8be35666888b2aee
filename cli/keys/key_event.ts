/**
 * The events of a keyboard.
 *
 * @module
 */

/** Something that the user typed or pasted. Everything else that a terminal sends is discarded. */
export type KeyEvent = CharacterEvent | Key | PasteEvent;

/** A printable character, as the keyboard layout produces it, without Ctrl and Alt. */
export interface CharacterEvent {
  readonly type: "character";
  /** One grapheme. A combining mark that arrives later is an event of its own. */
  readonly text: string;
}

/** A key that is not text, or a character with Ctrl or Alt. */
export interface Key {
  readonly type: "key";
  /** The key without its modifiers: a {@linkcode NamedKey}, or a character such as `c`. Letters are lower-case. */
  readonly name: string;
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
}

/** A text that was pasted, in terminals with the bracketed paste mode. Its line breaks are no keys. */
export interface PasteEvent {
  readonly type: "paste";
  /** The text, with LF as line breaks, without escape sequences and control characters. */
  readonly text: string;
  /** Number of characters at its end that were discarded, because the text was too long. */
  readonly omitted: number;
}

/** The names of keys that are not characters. */
export const NAMED_KEYS = [
  "enter",
  "tab",
  "space",
  "backspace",
  "escape",
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
  "f1",
  "f2",
  "f3",
  "f4",
  "f5",
  "f6",
  "f7",
  "f8",
  "f9",
  "f10",
  "f11",
  "f12",
] as const;

/** A key that is not a character. The space bar is a character unless it is pressed with Ctrl or Alt. */
export type NamedKey = typeof NAMED_KEYS[number];
