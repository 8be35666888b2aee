/**
 * The keys of a keyboard as the bytes that questions read.
 *
 * @module
 */

import type { KeyEvent } from "../../keys/key_event.ts";
import type { Keyboard } from "../../keys/keyboard.ts";
import type { QuestionContext } from "../../questions/choice.ts";

/** Reads keys one by one. A pasted text arrives as a whole, so that its characters are no keys. */
export class KeyInput implements Pick<QuestionContext["input"], "discardEarlier" | "readChunk"> {
  readonly #keyboard: Pick<Keyboard, "read" | "discard">;
  #keys: KeyEvent[] = [];

  constructor(keyboard: Pick<Keyboard, "read" | "discard">) {
    this.#keyboard = keyboard;
  }

  /** Discards what was typed before the call. */
  async discardEarlier(signal: AbortSignal): Promise<void> {
    await this.#keyboard.discard(signal);
    this.#keys = [];
  }

  /** Returns the next key; `undefined` at the end of the input or when the signal is aborted. */
  async readChunk(signal: AbortSignal): Promise<Uint8Array | undefined> {
    if (this.#keys.length === 0) {
      const keys = await this.#keyboard.read(signal);
      if (!keys) return undefined;
      this.#keys.push(...keys);
    }
    const key = this.#keys.shift();
    return key && new TextEncoder().encode(encodeKey(key));
  }
}

/** A key that answers no question. */
const OTHER_KEY = "\x1b[0~";

function encodeKey(event: KeyEvent): string {
  switch (event.type) {
    case "character":
      return event.text;
    case "paste":
      // Even a single pasted character is no key.
      return event.text.length === 1 ? `${event.text} ` : event.text;
    case "key": {
      const { name, ctrl, alt } = event;
      if (ctrl && !alt && (name === "c" || name === "d")) return name === "c" ? "\x03" : "\x04";
      if (ctrl && name === "u") return "\x15";
      if (ctrl || alt) return OTHER_KEY;
      return NAMED_KEYS[name] ?? OTHER_KEY;
    }
  }
}

const NAMED_KEYS: Readonly<Record<string, string>> = {
  enter: "\r",
  backspace: "\x7f",
  escape: "\x1b",
};
