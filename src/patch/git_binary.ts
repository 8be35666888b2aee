/**
 * Binary patches as git writes them: compressed with zlib, then in lines of base 85 that start with their length.
 *
 * @module
 */

const ALPHABET =
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/** Bytes per line of a binary patch. */
const LINE_BYTES = 52;

/** Formats a section that replaces one content by another, reversibly. */
export async function formatBinarySection(before: Uint8Array, after: Uint8Array): Promise<string> {
  return `GIT binary patch\n${await formatLiteral(after)}\n${await formatLiteral(before)}\n`;
}

async function formatLiteral(content: Uint8Array): Promise<string> {
  const compressed = await deflate(content);
  let lines = `literal ${content.length}\n`;
  for (let offset = 0; offset < compressed.length; offset += LINE_BYTES) {
    const line = compressed.subarray(offset, offset + LINE_BYTES);
    // `A` to `Z` for a length of 1 to 26, `a` to `z` for 27 to 52.
    const length = String.fromCharCode(line.length + (line.length <= 26 ? 64 : 70));
    lines += `${length}${encodeBase85(line)}\n`;
  }
  return lines;
}

/** Encodes each group of four bytes, zero-padded, as five digits. */
function encodeBase85(bytes: Uint8Array): string {
  let digits = "";
  for (let offset = 0; offset < bytes.length; offset += 4) {
    let value = 0;
    for (let index = offset; index < offset + 4; index++) value = value * 256 + (bytes[index] ?? 0);
    let group = "";
    for (let digit = 0; digit < 5; digit++) {
      group = ALPHABET.charAt(value % 85) + group;
      value = Math.floor(value / 85);
    }
    digits += group;
  }
  return digits;
}

async function deflate(content: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([content as Uint8Array<ArrayBuffer>]).stream();
  const compressed = stream.pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(compressed).arrayBuffer());
}
