/**
 * Text files that the user names.
 *
 * @module
 */

const CHUNK_BYTES = 65_536;

/** Maximum size of a prompt or schema in a file, in bytes. */
export const MAX_TEXT_BYTES = 10_000_000;

/**
 * Reads a text file, which may also be a pipe such as that of `<(command)`, or a device without an end.
 *
 * @throws {Error} If it cannot be read, is larger than `maxBytes`, or is not text in UTF-8.
 */
export function readTextFile(path: string, maxBytes: number = MAX_TEXT_BYTES): string {
  using file = Deno.openSync(path);
  const chunk = new Uint8Array(CHUNK_BYTES);
  const text = new TextParts(maxBytes);
  for (;;) {
    const length = file.readSync(chunk) ?? 0;
    text.add(chunk.subarray(0, length));
    if (length === 0) return text.text;
  }
}

/** Whether a path is that of a pipe or a device, for whose content or writer a read may wait without end. */
export function isPipe(path: string): boolean {
  try {
    const { isFile, isDirectory } = Deno.statSync(path);
    return !isFile && !isDirectory;
  } catch {
    return false;
  }
}

/**
 * Reads the text of a pipe.
 *
 * @returns The text; `undefined` when the signal is aborted before its end.
 * @throws {Error} As `readTextFile()`.
 */
export async function readPipe(
  path: string,
  signal: AbortSignal,
  maxBytes: number = MAX_TEXT_BYTES,
): Promise<string | undefined> {
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const opening = Deno.open(path);
  using file = await Promise.race([opening, aborted]);
  if (!file) {
    opening.then((late) => late.close(), () => {});
    return undefined;
  }
  const chunk = new Uint8Array(CHUNK_BYTES);
  const text = new TextParts(maxBytes);
  for (;;) {
    const reading = file.read(chunk);
    // Closing the file may end the read with an error.
    reading.catch(() => {});
    const length = await Promise.race([reading.then((length) => length ?? 0), aborted]);
    if (length === undefined) return undefined;
    text.add(chunk.subarray(0, length));
    if (length === 0) return text.text;
  }
}

/** A text of which the parts arrive one after the other; an empty one is the last. */
class TextParts {
  text = "";
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) {
      throw new Error(`the file is larger than ${this.#maxBytes / 1_000_000} MB`);
    }
    try {
      this.text += this.#decoder.decode(part, { stream: part.length > 0 });
    } catch {
      throw new Error("the file is not text in UTF-8");
    }
  }
}
