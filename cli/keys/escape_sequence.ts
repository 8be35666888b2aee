/**
 * The grammar of escape sequences in the input of a terminal.
 *
 * @module
 */

import type { KeyEvent } from "./key_event.ts";
import { createCharacterKey, createControlKey, createKey } from "./modified_key.ts";
import {
  findLinuxKey,
  findSequenceKey,
  findShiftedRxvtKey,
  findShiftThreeKey,
} from "./sequence_key.ts";

/** Result of scanning an escape sequence. */
export type ScannedSequence =
  /** A sequence of `length` characters and its keys: none if it is not a key. */
  | { readonly type: "keys"; readonly length: number; readonly keys: readonly KeyEvent[] }
  /** The beginning of a pasted text, of `length` characters. */
  | { readonly type: "paste_start"; readonly length: number }
  /** The beginning of a string that is too long to be kept. All of it is discarded. */
  | { readonly type: "string_start"; readonly length: number }
  /** The beginning of a sequence. `isLong` if it cannot be a key that was pressed alone. */
  | { readonly type: "incomplete"; readonly isLong: boolean };

const ESCAPE = "\x1b";

/** Longest sequence that is kept until it is complete. */
const MAX_SEQUENCE = 4_096;

/** Matches a control sequence, or the beginning of one. The groups are its parameters, intermediates and final character. */
// deno-lint-ignore no-control-regex -- sequences begin with a control character
const CONTROL_SEQUENCE = /^\x1b\[([0-?]*)([ -/]*)([@-~]?)/;

/** Matches a key with Shift of rxvt, whose sequence has no final character. The group is its number. */
// deno-lint-ignore no-control-regex -- sequences begin with a control character
const SHIFTED_RXVT_KEY = /^\x1b\[(\d{1,2})\$/;

/** Matches the sequence of a keypad or function key, or its beginning. */
// deno-lint-ignore no-control-regex -- sequences begin with a control character
const SHIFT_THREE = /^\x1bO(\d?)([ -~]?)/;

/** Matches a string, such as the reply to a query of a color, with its terminator. */
// deno-lint-ignore no-control-regex -- strings are delimited by control characters
const STRING = /^\x1b[\]P^_X][^\x07\x1b\x18\x1a]*(?:(\x07|\x1b\\)|(\x1b[^\\]|[\x18\x1a])|(\x1b?))/;

/** Number of characters after the mouse event `ESC [ M` of the X10 protocol. */
const MOUSE_BYTES = 3;

/** Scans the sequence at the beginning of a text, which is an Escape. */
export function scanSequence(text: string): ScannedSequence {
  const scanned = scan(text);
  if (scanned.type !== "incomplete" || text.length < MAX_SEQUENCE) return scanned;
  const { length } = text;
  return isStringStart(text[1]) ? { type: "string_start", length } : toKeys(length, undefined);
}

/** Matches the end of a string. A string that is canceled ends too. */
// deno-lint-ignore no-control-regex -- strings end with control characters
const STRING_END = /[\x07\x18\x1a]|\x1b\\/;

/** Returns the offset after the end of a string that began earlier; `undefined` without its end. */
export function findStringEnd(text: string): number | undefined {
  const end = STRING_END.exec(text);
  return end ? end.index + end[0].length : undefined;
}

/** Returns the keys of the beginning of a sequence whose rest has not arrived in time. */
export function toPressedKeys(text: string): readonly KeyEvent[] {
  if (text.startsWith(ESCAPE + ESCAPE)) {
    return [createKey("escape"), ...toPressedKeys(text.slice(1))];
  }
  if (text === ESCAPE) return [createKey("escape")];
  const [, character = ""] = text;
  return text.length === 2 ? [createAltKey(character)] : [];
}

function scan(text: string): ScannedSequence {
  switch (text[1]) {
    case undefined:
      return { type: "incomplete", isLong: false };
    case "[":
      return scanControlSequence(text);
    case "O":
      return scanShiftThree(text);
    case ESCAPE:
      return scanAfterEscape(text);
  }
  if (isStringStart(text[1])) return scanString(text);
  const character = String.fromCodePoint(text.codePointAt(1) ?? 0);
  return toKeys(1 + character.length, isC1(character) ? undefined : createAltKey(character));
}

/** Whether a character is a control character without a key. */
function isC1(character: string): boolean {
  return character >= "\x80" && character <= "\x9f";
}

/** Whether the character after an Escape begins a string. */
function isStringStart(character: string | undefined): boolean {
  return character !== undefined && "]P^_X".includes(character);
}

function createAltKey(character: string): KeyEvent {
  const modifiers = { ctrl: false, alt: true, shift: false };
  const code = character.charCodeAt(0);
  return code < 0x20 || code === 0x7f
    ? createControlKey(code, modifiers)
    : createCharacterKey(character, modifiers);
}

function scanControlSequence(text: string): ScannedSequence {
  if (text[2] === "[") {
    if (text.length < 4) return { type: "incomplete", isLong: true };
    return toKeys(4, findLinuxKey(text.charAt(3)));
  }
  const [shiftedSequence, number = ""] = SHIFTED_RXVT_KEY.exec(text) ?? [];
  const shiftedKey = findShiftedRxvtKey(number);
  if (shiftedSequence && shiftedKey) return toKeys(shiftedSequence.length, shiftedKey);
  const [{ length }, parameters = "", intermediates = "", final = ""] =
    CONTROL_SEQUENCE.exec(text) ?? [text];
  if (final === "") {
    if (length === text.length) return { type: "incomplete", isLong: length > 2 };
    // A character that is invalid in a sequence ends it.
    return toKeys(length, undefined);
  }
  if (final === "~" && parameters === "200") return { type: "paste_start", length };
  if (final === "M" && parameters === "") return scanMouseEvent(text);
  return toKeys(length, findSequenceKey({ parameters, intermediates, final }));
}

function scanMouseEvent(text: string): ScannedSequence {
  const length = 3 + MOUSE_BYTES;
  return text.length < length ? { type: "incomplete", isLong: true } : toKeys(length, undefined);
}

function scanShiftThree(text: string): ScannedSequence {
  const [{ length }, modifier = "", final = ""] = SHIFT_THREE.exec(text) ?? [text];
  if (final === "") {
    if (length === text.length) return { type: "incomplete", isLong: length > 2 };
    return { type: "keys", length: 2, keys: [createAltKey("O")] };
  }
  const key = findShiftThreeKey(modifier, final);
  return key ? toKeys(length, key) : { type: "keys", length: 2, keys: [createAltKey("O")] };
}

function scanString(text: string): ScannedSequence {
  const [{ length }, terminator, interruption] = STRING.exec(text) ?? [text];
  if (terminator !== undefined) return toKeys(length, undefined);
  // The sequence that follows starts with the Escape.
  if (interruption !== undefined) return toKeys(length - interruption.length, undefined);
  return { type: "incomplete", isLong: length > 2 };
}

/** Scans two Escapes: Escape, or Alt, before another sequence. */
function scanAfterEscape(text: string): ScannedSequence {
  if (text[2] === ESCAPE) return { type: "keys", length: 1, keys: [createKey("escape")] };
  const inner = scan(text.slice(1));
  switch (inner.type) {
    case "paste_start":
    case "string_start":
      return { type: "keys", length: 1, keys: [createKey("escape")] };
    case "incomplete":
      return inner;
    case "keys":
      return { ...inner, length: inner.length + 1, keys: inner.keys.map(withAlt) };
  }
}

function withAlt(key: KeyEvent): KeyEvent {
  switch (key.type) {
    case "key":
      return { ...key, alt: true };
    case "character":
      return createAltKey(key.text);
    case "paste":
      return key;
  }
}

function toKeys(length: number, key: KeyEvent | undefined): ScannedSequence {
  return { type: "keys", length, keys: key ? [key] : [] };
}
