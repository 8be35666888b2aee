/**
 * The orientation in the metadata of a photo, which a scaled image no longer has: a camera stores what its sensor sees, and
 * how it was held.
 *
 * @module
 */

import type { ImageSize } from "./image_header.ts";

/** How the stored pixels become the image; each step applies to the result of the one before. */
export interface Orientation {
  /** Whether the columns are in reverse order. */
  readonly mirrorsColumns: boolean;
  /** Whether the rows are in reverse order. */
  readonly mirrorsRows: boolean;
  /** Whether rows become columns. */
  readonly swapsAxes: boolean;
}

/** Pixels of four bytes each, row by row. */
export interface PixelImage extends ImageSize {
  /** The pixels. */
  readonly pixels: Uint8Array;
}

const EXIF_SEGMENT = 0xe1;
const ORIENTATION_TAG = 0x0112;
const ENTRY_BYTES = 12;

/** The values of the tag from 2 on: whether columns and rows are mirrored. From 5 on, rows become columns. */
const MIRRORED: ReadonlyMap<number, readonly [columns: boolean, rows: boolean]> = new Map([
  [2, [true, false]],
  [3, [true, true]],
  [4, [false, true]],
  [5, [false, false]],
  [6, [false, true]],
  [7, [true, true]],
  [8, [true, false]],
]);

const FIRST_SWAPPED = 5;

/** Reads the orientation of a JPEG image; `undefined` if it is upright, or another kind of image. */
export function readOrientation(bytes: Uint8Array): Orientation | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const value = readTag(view);
    const mirrored = MIRRORED.get(value);
    if (!mirrored) return undefined;
    const [mirrorsColumns, mirrorsRows] = mirrored;
    return { mirrorsColumns, mirrorsRows, swapsAxes: value >= FIRST_SWAPPED };
  } catch (error) {
    // A read after the end of the file.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns the value of the tag; 1 if there is none. */
function readTag(view: DataView): number {
  if (view.getUint16(0) !== 0xffd8) return 1;
  for (let offset = 2; view.getUint8(offset) === 0xff;) {
    const marker = view.getUint8(offset + 1);
    if (marker === 0xda) break; // the compressed content
    const isExif = marker === EXIF_SEGMENT && view.getUint32(offset + 4) === 0x45786966; // "Exif"
    if (isExif) return readExif(view, offset + 10);
    offset += marker === 0xff ? 1 : 2 + view.getUint16(offset + 2);
  }
  return 1;
}

/** Reads the tag in the first directory of TIFF data. */
function readExif(view: DataView, start: number): number {
  const isLittleEndian = view.getUint16(start) === 0x4949; // "II"
  const directory = start + view.getUint32(start + 4, isLittleEndian);
  const count = view.getUint16(directory, isLittleEndian);
  for (let index = 0; index < count; index++) {
    const entry = directory + 2 + index * ENTRY_BYTES;
    if (view.getUint16(entry, isLittleEndian) === ORIENTATION_TAG) {
      return view.getUint16(entry + 8, isLittleEndian);
    }
  }
  return 1;
}

/** Returns an image in its orientation. */
export function orientImage(
  { pixels, width, height }: PixelImage,
  { mirrorsColumns, mirrorsRows, swapsAxes }: Orientation,
): PixelImage {
  const stored = new Uint32Array(pixels.slice().buffer);
  const oriented = new Uint32Array(stored.length);
  const [stepX, stepY] = swapsAxes ? [height, 1] : [1, width];
  for (let y = 0; y < height; y++) {
    const storedRow = (mirrorsRows ? height - 1 - y : y) * width;
    for (let x = 0; x < width; x++) {
      oriented[x * stepX + y * stepY] = stored[storedRow + (mirrorsColumns ? width - 1 - x : x)] ??
        0;
    }
  }
  const size = swapsAxes ? { width: height, height: width } : { width, height };
  return { pixels: new Uint8Array(oriented.buffer), ...size };
}
