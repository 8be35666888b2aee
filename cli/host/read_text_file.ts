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

/** The paths of standard input. */
const STANDARD_INPUT: readonly string[] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/** Whether a path is that of standard input. */
export function isStandardInput(path: string): boolean {
  return STANDARD_INPUT.includes(path);
}

/**
 * Whether a path is that of a pipe or a device, for whose content or writer a read may wait without end, or of standard
 * input, which may be one.
 */
export function isPipe(path: string): boolean {
  if (isStandardInput(path)) return true;
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
  const text = new TextParts(maxBytes);
  const isComplete = await readChunks(path, signal, (chunk) => text.add(chunk));
  return isComplete ? text.text : undefined;
}

/**
 * Reads the bytes of a pipe.
 *
 * @returns The bytes; `undefined` when the signal is aborted before their end.
 * @throws {Error} If it cannot be read, or has more than `maxBytes`.
 */
export async function readPipeBytes(
  path: string,
  signal: AbortSignal,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const isComplete = await readChunks(path, signal, (chunk) => {
    length += chunk.length;
    checkSize(length, maxBytes);
    chunks.push(chunk.slice());
  });
  return isComplete ? await new Blob(chunks).bytes() : undefined;
}

/** Calls a function with each chunk of a pipe, the last one of which is empty; returns whether the end was read. */
async function readChunks(
  path: string,
  signal: AbortSignal,
  onChunk: (chunk: Uint8Array<ArrayBuffer>) => void,
): Promise<boolean> {
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  // Opened by its path, standard input needs all permissions of Deno.
  const opening = isStandardInput(path) ? undefined : Deno.open(path);
  using opened = await Promise.race([opening, aborted]);
  if (opening && !opened) {
    opening.then((late) => late.close(), () => {});
    return false;
  }
  const file = opened ?? Deno.stdin;
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (;;) {
    const reading = file.read(chunk);
    // Closing the file may end the read with an error.
    reading.catch(() => {});
    const length = await Promise.race([reading.then((length) => length ?? 0), aborted]);
    if (length === undefined) return false;
    onChunk(chunk.subarray(0, length));
    if (length === 0) return true;
  }
}

function checkSize(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new Error(`the file is larger than ${maxBytes / 1_000_000} MB`);
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
    checkSize(this.#bytes, this.#maxBytes);
    try {
      this.text += this.#decoder.decode(part, { stream: part.length > 0 });
    } catch {
      throw new Error("the file is not text in UTF-8");
    }
  }
}
