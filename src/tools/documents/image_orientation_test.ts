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
