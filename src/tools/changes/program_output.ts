/**
 * The output of git and find.
 *
 * @module
 */

/** Returns the paths in an output, each of which ends with a zero byte. */
export function splitPaths(output: Uint8Array): string[] {
  return toText(output).split("\0").filter((path) => path !== "");
}

/** Decodes an output. */
export function toText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Joins the chunks of an output. */
export function concatenate(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
