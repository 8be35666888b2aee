/**
 * The keys of a keyboard as the bytes that questions read.
 *
 * @module
 */

import type { Key, KeyEvent } from "../../keys/key_event.ts";
import type { Keyboard } from "../../keys/keyboard.ts";
import type { QuestionContext } from "../../questions/choice.ts";

/** Options for {@linkcode KeyInput}. */
export interface KeyInputOptions {
  /** The keyboard. */
  readonly keyboard: Pick<Keyboard, "read" | "discard">;
  /** Whether a pasted text is an answer, as that of a question for a key is. */
  readonly acceptsPastes: boolean;
  /** Called for Escape and Ctrl+C, which end the question too, with the key. */
  readonly onAbort: (key: Key) => void;
  /** Called for Ctrl+Z, after which the question is there again. */
  readonly onSuspend: () => void;
}

/** Reads the keys that arrive together as one text, because such characters are a text and no answers. */
export class KeyInput implements Pick<QuestionContext["input"], "discardEarlier" | "readChunk"> {
  readonly #options: KeyInputOptions;

  constructor(options: KeyInputOptions) {
    this.#options = options;
  }

  /** Discards what was typed before the call, except that Escape and Ctrl+C end the question. Returns the characters. */
  async discardEarlier(signal: AbortSignal): Promise<string> {
    const { keyboard, onAbort } = this.#options;
    const keys = await keyboard.discard(signal);
    const abort = keys.find(isAbort);
    if (abort) onAbort(abort);
    return keys.map((key) => key.type === "character" ? key.text : "").join("");
  }

  /** Returns the next keys; `undefined` at the end of the input or when the signal is aborted. */
  async readChunk(signal: AbortSignal): Promise<Uint8Array | undefined> {
    const { acceptsPastes, onAbort } = this.#options;
    const keys = await this.#readKeys(signal);
    if (!keys) return undefined;
    const abort = keys.find(isAbort);
    if (abort) {
      onAbort(abort);
      return new TextEncoder().encode(CONTROL_C);
    }
    const encoded = keys.map((key) =>
      key.type === "paste" && !acceptsPastes ? OTHER_KEY : encodeKey(key)
    );
    return new TextEncoder().encode(encoded.join(""));
  }

  /** Returns the next keys that are not for the shell. */
  async #readKeys(signal: AbortSignal): Promise<readonly KeyEvent[] | undefined> {
    const { keyboard, onSuspend } = this.#options;
    for (;;) {
      const keys = await keyboard.read(signal);
      if (!keys) return undefined;
      const others = keys.filter((key) => !isSuspend(key));
      if (others.length < keys.length) onSuspend();
      if (others.length > 0) return others;
    }
  }
}

function isSuspend(event: KeyEvent): boolean {
  return event.type === "key" && event.name === "z" && event.ctrl && !event.alt;
}

function isAbort(event: KeyEvent): event is Key {
  if (event.type !== "key") return false;
  const { name, ctrl, alt } = event;
  return !alt && (name === "escape" || (ctrl && name === "c"));
}

const CONTROL_C = "\x03";

/** A key that answers no question. */
const OTHER_KEY = "\x1b[0~";

function encodeKey(event: KeyEvent): string {
  switch (event.type) {
    case "character":
      return event.text;
    case "paste":
      return event.text;
    case "key": {
      const { name, ctrl, alt } = event;
      if (ctrl && !alt && name === "d") return "\x04";
      if (ctrl && name === "u") return "\x15";
      if (ctrl || alt) return OTHER_KEY;
      return NAMED_KEYS[name] ?? OTHER_KEY;
    }
  }
}

const NAMED_KEYS: Readonly<Record<string, string>> = {
  enter: "\r",
  backspace: "\x7f",
};
