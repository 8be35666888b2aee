import { assertEquals } from "@std/assert";
import { orientImage, readOrientation } from "./image_orientation.ts";

/** The begin of a JPEG image with an orientation, behind a segment of another kind. */
function createJpegStart(orientation: number, order: "II" | "MM"): Uint8Array {
  const toShort = (value: number) => order === "II" ? [value, 0] : [0, value];
  const toLong = (value: number) => order === "II" ? [value, 0, 0, 0] : [0, 0, 0, value];
  const other = [1, 0, ...toShort(4), ...toLong(1), ...toLong(7)];
  const tag = order === "II" ? [0x12, 0x01] : [0x01, 0x12];
  const entry = [...tag, ...toShort(3), ...toLong(1), ...toShort(orientation), 0, 0];
  const tiff = [
    ...new TextEncoder().encode(order),
    ...[...toShort(42), ...toLong(8), ...toShort(2), ...other, ...entry, ...toLong(0)],
  ];
  const exif = [...new TextEncoder().encode("Exif\0\0"), ...tiff];
  return new Uint8Array([
    ...[0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0],
    ...[0xff, 0xe1, 0, exif.length + 2, ...exif, 0xff, 0xda],
  ]);
}

/** The rows of an image of 3 × 2 pixels, `abc` and `def`, in each orientation. */
const ORIENTED: readonly (readonly [value: number, rows: readonly string[]])[] = [
  [1, ["abc", "def"]],
  [2, ["cba", "fed"]],
  [3, ["fed", "cba"]],
  [4, ["def", "abc"]],
  [5, ["ad", "be", "cf"]],
  [6, ["da", "eb", "fc"]],
  [7, ["fc", "eb", "da"]],
  [8, ["cf", "be", "ad"]],
  [9, ["abc", "def"]],
];

for (const [value, rows] of ORIENTED) {
  Deno.test(`orientImage(): shows the pixels of an image with the orientation ${value}`, () => {
    const pixels = new TextEncoder().encode([..."abcdef"].map((pixel) => pixel.repeat(4)).join(""));
    const stored = { pixels, width: 3, height: 2 };
    for (const order of ["II", "MM"] as const) {
      const orientation = readOrientation(createJpegStart(value, order));
      assertEquals(orientation === undefined, value === 1 || value === 9);
      const { width, height, ...shown } = orientation ? orientImage(stored, orientation) : stored;
      const text = new TextDecoder().decode(shown.pixels).replace(/(.)\1{3}/g, "$1");
      const shownRows = Array.from(
        { length: height },
        (_, row) => text.slice(row * width, (row + 1) * width),
      );
      assertEquals(shownRows, rows);
    }
  });
}

Deno.test("readOrientation(): returns nothing for damaged metadata and other images", () => {
  const jpeg = createJpegStart(6, "II");
  const value = jpeg.length - 10; // of the tag, before the offset of the next directory and the content
  for (let length = 0; length <= value; length++) {
    assertEquals(readOrientation(jpeg.subarray(0, length)), undefined, `${length} bytes`);
  }
  assertEquals(readOrientation(new TextEncoder().encode("GIF89a Exif")), undefined);
  const wrong = jpeg.slice();
  wrong.fill(0xff, 24, 28); // the offset of the directory
  assertEquals(readOrientation(wrong), undefined);
});
