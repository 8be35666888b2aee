/**
 * Orientation of photos. A camera stores the pixels as its sensor has them, and how they are turned in the metadata, which a
 * scaled image does not have.
 *
 * @module
 */

import type { ImageSize } from "./image_header.ts";

/** Pixels of four bytes each, row by row. */
export interface Pixels extends ImageSize {
  readonly bytes: Uint8Array;
}

/** Tag of the orientation in the metadata. */
const ORIENTATION = 0x0112;

const LITTLE_ENDIAN = 0x4949;

/** Beginnings of files, and names of chunks: `Exif`, `.PNG`, `eXIf`, `RIFF`, `WEBP` and `EXIF`. */
const JPEG_MARK = 0xffd8;
const JPEG_EXIF = 0x45786966;
const PNG_MARK = 0x89504e47;
const PNG_EXIF = 0x65584966;
const RIFF_MARK = 0x52494646;
const WEBP_MARK = 0x57454250;
const WEBP_EXIF = 0x45584946;

/** Returns the orientation of a JPEG, PNG or WebP image by its metadata, from 1 to 8; 1 is that of other images. */
export function readOrientation(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const orientation = findOrientation(view);
    return orientation >= 1 && orientation <= 8 ? orientation : 1;
  } catch (error) {
    // A read after the end of the file.
    if (error instanceof RangeError) return 1;
    throw error;
  }
}

function findOrientation(view: DataView): number {
  if (view.getUint16(0) === JPEG_MARK) return findInJpeg(view);
  if (view.getUint32(0) === PNG_MARK) return findInPng(view);
  const isWebp = view.getUint32(0) === RIFF_MARK && view.getUint32(8) === WEBP_MARK;
  return isWebp ? findInWebp(view) : 1;
}

function findInJpeg(view: DataView): number {
  // Segments of metadata, each with a mark and a length, precede the start of the scan.
  for (let offset = 2; view.getUint8(offset) === 0xff && view.getUint8(offset + 1) !== 0xda;) {
    if (view.getUint8(offset + 1) === 0xff) {
      offset++; // a byte before a mark that has no meaning
      continue;
    }
    const isExif = view.getUint8(offset + 1) === 0xe1 && view.getUint32(offset + 4) === JPEG_EXIF;
    if (isExif) return readTag(view, offset + 10);
    offset += 2 + view.getUint16(offset + 2);
  }
  return 1;
}

function findInPng(view: DataView): number {
  // Each chunk has a length, a name, data and a checksum.
  for (let offset = 8;; offset += view.getUint32(offset) + 12) {
    if (view.getUint32(offset + 4) === PNG_EXIF) return readTag(view, offset + 8);
  }
}

function findInWebp(view: DataView): number {
  // Each chunk has a name, a length and data, whose length is rounded up to an even one.
  for (let offset = 12;;) {
    const [name, length] = [view.getUint32(offset), view.getUint32(offset + 4, true)];
    if (name === WEBP_EXIF) {
      // Some programs write the mark of JPEG images before the metadata.
      const hasMark = view.getUint32(offset + 8) === JPEG_EXIF;
      return readTag(view, offset + (hasMark ? 14 : 8));
    }
    offset += 8 + length + length % 2;
  }
}

/** Reads the tag in the first directory of the metadata, whose offsets count from `start`. */
function readTag(view: DataView, start: number): number {
  const isLittle = view.getUint16(start) === LITTLE_ENDIAN;
  const directory = start + view.getUint32(start + 4, isLittle);
  const count = view.getUint16(directory, isLittle);
  for (let index = 0; index < count; index++) {
    const entry = directory + 2 + index * 12;
    if (view.getUint16(entry, isLittle) === ORIENTATION) return view.getUint16(entry + 8, isLittle);
  }
  return 1;
}

/** Turns and mirrors pixels of an orientation, so that the image is upright. */
export function turnUpright({ bytes, width, height }: Pixels, orientation: number): Pixels {
  if (orientation === 1) return { bytes, width, height };
  const isOnSide = orientation >= 5;
  const upright = isOnSide ? { width: height, height: width } : { width, height };
  const source = new Uint32Array(bytes.slice().buffer);
  const turned = new Uint32Array(source.length);
  const [right, bottom] = [[2, 3, 7, 8], [3, 4, 6, 7]].map((list) => list.includes(orientation));
  for (let y = 0; y < upright.height; y++) {
    for (let x = 0; x < upright.width; x++) {
      const [column, row] = isOnSide ? [y, x] : [x, y];
      const sourceX = right ? width - 1 - column : column;
      const sourceY = bottom ? height - 1 - row : row;
      turned[y * upright.width + x] = source[sourceY * width + sourceX] ?? 0;
    }
  }
  return { bytes: new Uint8Array(turned.buffer), ...upright };
}
