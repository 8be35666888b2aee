/**
 * Checks images by their content: a file with the first bytes of an image need not be one.
 *
 * @module
 */

/** Size of an image in pixels. */
export interface ImageSize {
  /** Width in pixels. */
  readonly width: number;
  /** Height in pixels. */
  readonly height: number;
}

/** Reads the size of a complete PNG, JPEG, GIF or WebP image; `undefined` when it is damaged. */
export function readImageSize(bytes: Uint8Array, mediaType: string): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const size = readSize(view, mediaType);
    return size && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (error) {
    // A read after the end of the file.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readSize(view: DataView, mediaType: string): ImageSize | undefined {
  switch (mediaType) {
    case "image/png":
      return readPng(view);
    case "image/jpeg":
      return readJpeg(view);
    case "image/gif":
      return readGif(view);
    case "image/webp":
      return readWebp(view);
    default:
      return undefined;
  }
}

function readPng(view: DataView): ImageSize | undefined {
  // The chunks begin with IHDR and end with IEND; each has a length, a type, data and a checksum.
  if (readName(view, 12) !== "IHDR") return undefined;
  let hasContent = false;
  for (let offset = 8;;) {
    const name = readName(view, offset + 4);
    if (name === "IEND") break;
    if (name === "IDAT") hasContent = true;
    offset += view.getUint32(offset) + 12;
  }
  return hasContent ? { width: view.getUint32(16), height: view.getUint32(20) } : undefined;
}

function readJpeg(view: DataView): ImageSize | undefined {
  for (let offset = 2;;) {
    if (view.getUint8(offset) !== 0xff) return undefined;
    const marker = view.getUint8(offset + 1);
    if (marker === 0xff) {
      offset++;
      continue;
    }
    if (marker === 0xd9 || marker === 0xda) return undefined;
    // Start of frame, except for tables of Huffman codes and arithmetic coding.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) {
      return hasJpegEnd(view, offset)
        ? { height: view.getUint16(offset + 5), width: view.getUint16(offset + 7) }
        : undefined;
    }
    offset += 2 + view.getUint16(offset + 2);
  }
}

/** Whether the mark of the end follows. Other bytes may follow it, and the compressed content cannot contain it. */
function hasJpegEnd(view: DataView, start: number): boolean {
  for (let offset = view.byteLength - 2; offset > start; offset--) {
    if (view.getUint16(offset) === 0xffd9) return true;
  }
  return false;
}

function readGif(view: DataView): ImageSize | undefined {
  // Blocks follow the header and its table of colors: extensions, images with tables of their own, and the end.
  let offset = 13 + getColorTableLength(view.getUint8(10));
  let hasContent = false;
  // Some images lack the end, which programs accept.
  while (offset !== view.byteLength || !hasContent) {
    const type = view.getUint8(offset);
    if (type === 0x3b) break;
    if (type === 0x2c) {
      hasContent = true;
      offset = skipGifData(view, offset + 11 + getColorTableLength(view.getUint8(offset + 9)));
    } else if (type === 0x21) offset = skipGifData(view, offset + 2);
    else return undefined;
  }
  if (!hasContent) return undefined;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

function getColorTableLength(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

/** Returns the offset after data of several parts, each of which begins with its length; the last one is empty. */
function skipGifData(view: DataView, start: number): number {
  let offset = start;
  while (view.getUint8(offset) > 0) offset += view.getUint8(offset) + 1;
  return offset + 1;
}

function readWebp(view: DataView): ImageSize | undefined {
  if (readName(view, 0) !== "RIFF" || view.getUint32(4, true) + 8 > view.byteLength) {
    return undefined;
  }
  switch (readName(view, 12)) {
    case "VP8 ":
      return {
        width: view.getUint16(26, true) & 0x3fff,
        height: view.getUint16(28, true) & 0x3fff,
      };
    case "VP8L": {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return {
        width: (view.getUint32(24, true) & 0xffffff) + 1,
        height: ((view.getUint32(26, true) >> 8) & 0xffffff) + 1,
      };
    default:
      return undefined;
  }
}

function readName(view: DataView, offset: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((index) => view.getUint8(offset + index)));
}
