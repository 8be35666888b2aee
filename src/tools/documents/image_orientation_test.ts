import { assertEquals } from "@std/assert";
import { createExif } from "../../../tests/sandbox/exif.ts";
import { readOrientation, turnUpright } from "./image_orientation.ts";

Deno.test("readOrientation(): reads the metadata of a JPEG image in both byte orders", () => {
  for (let orientation = 1; orientation <= 8; orientation++) {
    for (const isLittle of [false, true]) {
      assertEquals(readOrientation(createExif(orientation, isLittle)), orientation);
    }
  }
});

/** Returns bytes of texts, of numbers and of other bytes. */
function join(...parts: readonly (string | number | Uint8Array)[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => {
    if (typeof part === "string") return [...part].map((letter) => letter.charCodeAt(0));
    return typeof part === "number" ? [part] : [...part];
  }));
}

Deno.test("readOrientation(): reads the metadata of JPEG images with fill bytes, and of PNG and WebP images", () => {
  for (const isLittle of [false, true]) {
    const jpeg = createExif(6, isLittle);
    const metadata = jpeg.slice(12);
    const { length } = metadata;
    const images = [
      join(jpeg.slice(0, 2), 0xff, 0xff, 0xff, 0xe0, 0, 3, 1, 0xff, jpeg.slice(2)),
      join(
        ...["\x89PNG\r\n\x1a\n", "\0\0\0\x01IDATx", "\0\0\0\0"],
        ...["\0\0\0", length, "eXIf", metadata, "\0\0\0\0"],
      ),
      join("RIFF\0\0\0\0WEBPVP8 \x01\0\0\0x\0EXIF", length, "\0\0\0", metadata),
      join("RIFF\0\0\0\0WEBPEXIF", length + 6, "\0\0\0Exif\0\0", metadata),
    ];
    for (const image of images) assertEquals(readOrientation(image), 6);
  }
  const upright = ["\x89PNG\r\n\x1a\n\0\0\0\0IEND\0\0\0\0", "RIFF\0\0\0\0WEBPVP8 \0\0\0\0"];
  for (const image of upright) assertEquals(readOrientation(join(image)), 1);
});

Deno.test("readOrientation(): images without metadata, and damaged ones, are upright", () => {
  const exif = createExif(6);
  const images = [
    new Uint8Array(),
    new Uint8Array([0x89, 0x50, 0x4e, 0x47]),
    new Uint8Array([0xff, 0xd8, 0xff, 0xda, 0, 2]),
    createExif(9),
    createExif(0),
    exif.slice(0, 35),
    exif.map((byte, index) => index === 16 ? 0xff : byte),
  ];
  for (const image of images) assertEquals(readOrientation(image), 1);
});

Deno.test("turnUpright(): each orientation of an image is the same image", () => {
  const upright = ["abc", "def"];
  const stored = [
    ["abc", "def"],
    ["cba", "fed"],
    ["fed", "cba"],
    ["def", "abc"],
    ["ad", "be", "cf"],
    ["cf", "be", "ad"],
    ["fc", "eb", "da"],
    ["da", "eb", "fc"],
  ];
  for (const [index, rows] of stored.entries()) {
    const pixels = [...rows.join("")].flatMap((letter) => [letter.charCodeAt(0), 0, 0, 255]);
    const image = {
      bytes: new Uint8Array(pixels),
      width: rows[0]?.length ?? 0,
      height: rows.length,
    };
    const { bytes, width, height } = turnUpright(image, index + 1);
    const letters = String.fromCharCode(...bytes.filter((_, offset) => offset % 4 === 0));
    assertEquals([width, height, letters], [3, 2, upright.join("")], `orientation ${index + 1}`);
  }
});
