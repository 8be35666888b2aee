/**
 * Binary content as git writes it into a patch: zlib, then base 85 in lines with their length in front.
 *
 * @module
 */

const ALPHABET =
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/** Bytes in one line of a binary patch. */
const LINE_BYTES = 52;

/** A section that replaces one content by another, and back. */
export async function formatBinarySection(before: Uint8Array, after: Uint8Array): Promise<string> {
  return `GIT binary patch\n${await formatLiteral(after)}\n${await formatLiteral(before)}\n`;
}

async function formatLiteral(content: Uint8Array): Promise<string> {
  const packed = await deflate(content);
  let lines = `literal ${content.length}\n`;
  for (let at = 0; at < packed.length; at += LINE_BYTES) {
    const line = packed.subarray(at, at + LINE_BYTES);
    lines += `${encodeLength(line.length)}${encodeBase85(line)}\n`;
  }
  return lines;
}

/** `A` to `Z` for 1 to 26, `a` to `z` for 27 to 52. */
function encodeLength(length: number): string {
  return String.fromCharCode(length <= 26 ? 64 + length : 70 + length);
}

/** Groups of four bytes, the last one filled with zeros, as five digits each. */
function encodeBase85(bytes: Uint8Array): string {
  let digits = "";
  for (let at = 0; at < bytes.length; at += 4) {
    let value = 0;
    for (let index = at; index < at + 4; index++) value = value * 256 + (bytes[index] ?? 0);
    let group = "";
    for (let place = 0; place < 5; place++) {
      group = ALPHABET.charAt(value % 85) + group;
      value = Math.floor(value / 85);
    }
    digits += group;
  }
  return digits;
}

async function deflate(content: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([content as Uint8Array<ArrayBuffer>]).stream();
  const packed = stream.pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}
