import { assertEquals } from "@std/assert";
import { isBinaryText } from "./binary_text.ts";

function decode(...bytes: readonly number[]): string {
  return new TextDecoder().decode(new Uint8Array(bytes));
}

Deno.test("isBinaryText(): recognizes images, compressed data and other encodings", () => {
  const png = decode(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d);
  const gzip = decode(0x1f, 0x8b, 0x08, 0xd2, 0xc9, 0x81, 0xff, 0xfe);
  for (const text of [png, gzip, decode(0xff, 0xfe, 0x41, 0, 0x42, 0)]) {
    assertEquals(isBinaryText(text), true, JSON.stringify(text));
  }
});

Deno.test("isBinaryText(): accepts text, also with a few characters that are cut off or of another encoding", () => {
  const latin1 = decode(...[..."Modèle inconnu"].map((character) => character.charCodeAt(0)));
  for (const text of ["", "Überlastet 日本語", "a\r\n\tb", "\u001b[31mred\u001b[0m", latin1]) {
    assertEquals(isBinaryText(text), false, JSON.stringify(text));
  }
});
