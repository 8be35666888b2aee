/**
 * Decodes the bytes of a terminal in raw mode to keys.
 *
 * @module
 */

import { toPlainText } from "../render/plain_text.ts";
import { splitGraphemes } from "../render/text_width.ts";
import { findStringEnd, scanSequence, toPressedKeys } from "./escape_sequence.ts";
import type { KeyEvent } from "./key_event.ts";
import { createControlKey } from "./modified_key.ts";

/** Time in which the rest of a sequence arrives after an Escape; else the key Escape was pressed. */
const ESCAPE_MS = 50;

/** Time in which the rest of any other sequence arrives. */
const SEQUENCE_MS = 500;

/** Time in which the rest of a pasted text arrives. */
const PASTE_MS = 2_000;

/** Longest text of a paste, in characters. */
const MAX_PASTE = 1_048_576;

const PASTE_END = "\x1b[201~";

/** Matches Ctrl+C as the only input: as a character, and in the protocols of kitty and xterm. */
// deno-lint-ignore no-control-regex -- the key is a control character
const ONLY_INTERRUPT = /^(?:\x03|\x1b\[99;5u|\x1b\[27;5;99~)$/;

/** Matches characters up to the next control character. C1 control characters are no keys. */
// deno-lint-ignore no-control-regex -- separates text from control characters
const TEXT_RUN = /^[^\x00-\x1f\x7f-\x9f]+/;

type DecoderState =
  | { readonly type: "keys" }
  /** In a string, which is discarded. */
  | { readonly type: "string" }
  | { readonly type: "paste"; text: string; omitted: number };

/**
 * Decodes keys, however the bytes are split. Sequences that are not keys, such as replies of the terminal, are
 * discarded. An incomplete sequence is kept until its rest arrives, or until {@linkcode KeyDecoder.expire} is called.
 */
export class KeyDecoder {
  readonly #decoder = new TextDecoder();
  #state: DecoderState = { type: "keys" };
  /** Characters that have not been decoded, because the rest of their sequence is missing. */
  #rest = "";

  /** Decodes the next bytes. */
  push(bytes: Uint8Array): KeyEvent[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    const keys: KeyEvent[] = [];
    // Without this key, a terminal that does not send the end of a paste could not be used any more.
    if (this.#state.type === "paste" && ONLY_INTERRUPT.test(text)) keys.push(...this.#endPaste());
    this.#rest += text;
    while (this.#rest !== "") {
      if (!this.#readNext(keys)) break;
    }
    return keys;
  }

  /** Time after which {@linkcode KeyDecoder.expire} is to be called, unless more bytes arrive; `undefined` if none is awaited. */
  get awaitsMs(): number | undefined {
    if (this.#state.type === "paste") return PASTE_MS;
    if (this.#state.type === "string") return SEQUENCE_MS;
    if (this.#rest === "") return undefined;
    const scanned = scanSequence(this.#rest);
    return scanned.type === "incomplete" && scanned.isLong ? SEQUENCE_MS : ESCAPE_MS;
  }

  /** Returns the keys of an incomplete sequence, such as Escape, and the beginning of a pasted text that has not ended. */
  expire(): readonly KeyEvent[] {
    if (this.#state.type === "paste") {
      const keys = this.#takePaste(this.#state);
      this.#state = { type: "paste", text: "", omitted: 0 };
      return keys;
    }
    const keys = this.#state.type === "keys" ? toPressedKeys(this.#rest) : [];
    this.#state = { type: "keys" };
    this.#rest = "";
    return keys;
  }

  /** Decodes a part of the input. Returns whether it was complete. */
  #readNext(keys: KeyEvent[]): boolean {
    switch (this.#state.type) {
      case "keys":
        return this.#readKey(keys);
      case "string":
        return this.#readString();
      case "paste":
        return this.#readPaste(keys);
    }
  }

  /** Decodes the next key, or characters up to the next key. Returns whether it was complete. */
  #readKey(keys: KeyEvent[]): boolean {
    const [run] = TEXT_RUN.exec(this.#rest) ?? [];
    if (run !== undefined) {
      for (const text of splitGraphemes(run)) keys.push({ type: "character", text });
      this.#rest = this.#rest.slice(run.length);
      return true;
    }
    const code = this.#rest.charCodeAt(0);
    if (code !== 0x1b) {
      const isC1 = code >= 0x80;
      if (!isC1) keys.push(createControlKey(code, { alt: false }));
      this.#rest = this.#rest.slice(1);
      return true;
    }
    const scanned = scanSequence(this.#rest);
    switch (scanned.type) {
      case "incomplete":
        return false;
      case "paste_start":
        this.#state = { type: "paste", text: "", omitted: 0 };
        break;
      case "string_start":
        this.#state = { type: "string" };
        break;
      case "keys":
        for (const key of scanned.keys) keys.push(key);
        break;
    }
    this.#rest = this.#rest.slice(scanned.length);
    return true;
  }

  /** Discards a string up to its end. Returns whether the end has arrived. */
  #readString(): boolean {
    const end = findStringEnd(this.#rest);
    if (end === undefined) {
      this.#rest = this.#rest.endsWith("\x1b") ? "\x1b" : "";
      return false;
    }
    this.#rest = this.#rest.slice(end);
    this.#state = { type: "keys" };
    return true;
  }

  /** Reads a pasted text up to its end. Returns whether the end has arrived. */
  #readPaste(keys: KeyEvent[]): boolean {
    if (this.#state.type !== "paste") return true;
    const end = this.#rest.indexOf(PASTE_END);
    if (end >= 0) {
      appendPaste(this.#state, this.#rest.slice(0, end));
      this.#rest = this.#rest.slice(end + PASTE_END.length);
      for (const key of this.#endPaste()) keys.push(key);
      return true;
    }
    const kept = countPasteEnd(this.#rest);
    appendPaste(this.#state, this.#rest.slice(0, this.#rest.length - kept));
    this.#rest = this.#rest.slice(this.#rest.length - kept);
    return false;
  }

  #endPaste(): KeyEvent[] {
    const keys = this.#state.type === "paste" ? this.#takePaste(this.#state) : [];
    this.#state = { type: "keys" };
    return keys;
  }

  #takePaste({ text, omitted }: { readonly text: string; readonly omitted: number }): KeyEvent[] {
    const plain = toPlainText(text.replaceAll(/\r\n?/g, "\n"));
    return plain === "" ? [] : [{ type: "paste", text: plain, omitted }];
  }
}

function appendPaste(paste: { text: string; omitted: number }, text: string): void {
  const kept = text.slice(0, MAX_PASTE - paste.text.length);
  paste.text += kept;
  paste.omitted += text.length - kept.length;
}

/** Returns the number of characters at the end of a text that may be the beginning of the end of a paste. */
function countPasteEnd(text: string): number {
  for (let length = Math.min(PASTE_END.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(PASTE_END.slice(0, length))) return length;
  }
  return 0;
}
