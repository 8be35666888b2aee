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
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const chunk = new Uint8Array(CHUNK_BYTES);
  let text = "";
  for (let bytes = 0;;) {
    const length = file.readSync(chunk) ?? 0;
    bytes += length;
    if (bytes > maxBytes) throw new Error(`the file is larger than ${maxBytes / 1_000_000} MB`);
    try {
      text += decoder.decode(chunk.subarray(0, length), { stream: length > 0 });
    } catch {
      throw new Error("the file is not text in UTF-8");
    }
    if (length === 0) return text;
  }
}
