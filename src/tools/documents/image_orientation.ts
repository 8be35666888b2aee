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

const EXIF = 0x45786966;
const LITTLE_ENDIAN = 0x4949;

/** Returns the orientation of a JPEG image by its metadata, from 1 to 8; 1 is that of other images. */
export function readOrientation(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const orientation = view.getUint16(0) === 0xffd8 ? findOrientation(view) : 1;
    return orientation >= 1 && orientation <= 8 ? orientation : 1;
  } catch (error) {
    // A read after the end of the file.
    if (error instanceof RangeError) return 1;
    throw error;
  }
}

function findOrientation(view: DataView): number {
  // Segments of metadata, each with a mark and a length, precede the start of the scan.
  for (let offset = 2; view.getUint8(offset) === 0xff && view.getUint8(offset + 1) !== 0xda;) {
    const isExif = view.getUint8(offset + 1) === 0xe1 && view.getUint32(offset + 4) === EXIF;
    if (isExif) return readTag(view, offset + 10);
    offset += 2 + view.getUint16(offset + 2);
  }
  return 1;
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
