/**
 * A question whose answer is not shown.
 *
 * @module
 */

import type { QuestionContext } from "./choice.ts";
import { KeyReader, splitKeys } from "./key_reader.ts";

const ENTER_KEYS = ["\r", "\n"];
const ERASE_KEYS = ["\x7f", "\b"];
/** Ctrl+U, which erases a line. */
const ERASE_ALL_KEY = "\x15";

/**
 * Asks for a line that is not shown. Input that was typed before the question is discarded.
 *
 * @returns The line; `undefined` at the end of the input, for Ctrl+C and Ctrl+D, or when the signal is aborted.
 */
export async function askSecret(
  message: string,
  { host: { terminal, now }, keyboard, input, signal }: QuestionContext,
): Promise<string | undefined> {
  const { messages } = terminal;
  keyboard.setRaw(true);
  try {
    await input.discardEarlier(signal);
    if (signal.aborted) return undefined;
    await messages.write(`${message}: `);
    const keys = new KeyReader({ readChunk: () => input.readChunk(signal), now });
    return await readSecret(keys);
  } finally {
    keyboard.setRaw(false);
    await messages.write("\n");
  }
}

async function readSecret(keys: KeyReader): Promise<string | undefined> {
  let characters: readonly string[] = [];
  for (;;) {
    const text = await keys.read();
    if (text === undefined) return undefined;
    for (const key of splitKeys(text)) {
      if (ENTER_KEYS.includes(key)) return characters.join("");
      if (ERASE_KEYS.includes(key)) characters = characters.slice(0, -1);
      else if (key === ERASE_ALL_KEY) characters = [];
      // Escape sequences, such as those around a pasted text, are no part of a secret.
      else if (!key.startsWith("\x1b")) characters = [...characters, key];
    }
  }
}
