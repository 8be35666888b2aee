import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import { getImageType } from "./image_type.ts";

const toBytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

Deno.test("getImageType() recognizes the content, whatever the extension", () => {
  for (
    const [start, mediaType] of [
      ["\x89PNG\r\n\x1a\n", "image/png"],
      ["\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"],
      ["GIF87a", "image/gif"],
      ["GIF89a", "image/gif"],
      ["RIFF\n\0\n\0WEBPVP8 ", "image/webp"],
    ] as const
  ) {
    for (const path of ["upload", "a.b/upload", "photo.bmp"]) {
      assertEquals(getImageType(toBytes(start), path), mediaType);
    }
  }
});

Deno.test("getImageType() returns the type of the extension for other content", () => {
  const bytes = toBytes("RIFF\0\0\0\0WAVE");
  assertEquals(
    ["a.jpg", "a/b.JPEG", "c:\\a.b\\c.bmp"].map((path) => getImageType(bytes, path)),
    ["image/jpeg", "image/jpeg", "image/bmp"],
  );
});

Deno.test("getImageType() throws for other content without an extension", () => {
  for (const path of ["upload", "a.b/upload", "a.b\\upload", ".png", "a/.png", ""]) {
    assertThrows(() => getImageType(new Uint8Array(), path), BadRequestError, "mediaType");
  }
});
