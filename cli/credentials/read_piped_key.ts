/**
 * A key from standard input.
 *
 * @module
 */

import type { Input } from "../host/terminal.ts";

const MAX_BYTES = 100_000;

/** Reads the text of standard input, at most 100 KB; `undefined` when the signal is aborted. */
export async function readPipedKey(
  { bytes }: Pick<Input, "bytes">,
  signal: AbortSignal,
): Promise<string | undefined> {
  const decoder = new TextDecoder();
  const reader = bytes.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  let text = "";
  try {
    while (text.length < MAX_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    return signal.aborted ? undefined : text;
  } finally {
    signal.removeEventListener("abort", cancel);
    reader.releaseLock();
  }
}
