import { assertEquals } from "@std/assert";
import { decodeBase64 } from "../../core/text/byte_encoding.ts";
import { readImageSize } from "./image_header.ts";

/** Complete images of 3 × 2 pixels. */
const IMAGES: readonly (readonly [mediaType: string, base64: string])[] = [
  [
    "image/png",
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAC0lEQVR4nGNggAIAAAgAAVrdNVgAAAAASUVORK5CYII=",
  ],
  ["image/gif", "R0lGODlhAwACAIAAAAAAAP///ywAAAAAAwACAAACAoRRADs="],
];

for (const [mediaType, base64] of IMAGES) {
  Deno.test(`readImageSize(): reads the size of ${mediaType}, and rejects every truncated one`, () => {
    const bytes = decodeBase64(base64);
    assertEquals(readImageSize(bytes, mediaType), { width: 3, height: 2 });
    // Without the checksum of its end, a PNG image is readable, and without the end a GIF image.
    const endLength = mediaType === "image/png" ? 4 : 1;
    for (let length = 0; length < bytes.length - endLength; length++) {
      assertEquals(readImageSize(bytes.subarray(0, length), mediaType), undefined);
    }
  });
}

Deno.test("readImageSize(): reads the frame of a JPEG image and the headers of WebP images", () => {
  const jpeg = [
    0xff,
    0xd8,
    0xff,
    0xe0,
    0,
    4,
    0,
    0,
    0xff,
    0xc0,
    0,
    11,
    8,
    0,
    2,
    0,
    3,
    1,
    0xff,
    0xd9,
  ];
  assertEquals(readImageSize(new Uint8Array(jpeg), "image/jpeg"), { width: 3, height: 2 });
  assertEquals(readImageSize(new Uint8Array(jpeg.slice(0, 12)), "image/jpeg"), undefined);
  assertEquals(readImageSize(new Uint8Array(jpeg.slice(0, -1)), "image/jpeg"), undefined);
  assertEquals(readImageSize(new Uint8Array([...jpeg, 0, 0]), "image/jpeg"), {
    width: 3,
    height: 2,
  });
  const tables = [0xff, 0xc4, 0, 3, 0, 0xff, 0xc8, 0, 3, 0, 0xff, 0xcc, 0, 3, 0];
  const withTables = [...jpeg.slice(0, 2), ...tables, ...jpeg.slice(2)];
  assertEquals(readImageSize(new Uint8Array(withTables), "image/jpeg"), { width: 3, height: 2 });
  const extended = [..."RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x02\0\0\x01\0\0"]
    .map((character) => character.charCodeAt(0));
  assertEquals(readImageSize(new Uint8Array(extended), "image/webp"), { width: 3, height: 2 });
  assertEquals(readImageSize(new Uint8Array(extended.slice(0, 25)), "image/webp"), undefined);
});
