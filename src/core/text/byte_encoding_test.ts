import { assertEquals } from "@std/assert";
import {
  decodeBase64,
  encodeBase64,
  encodeHex,
  fromBinaryString,
  toBinaryString,
} from "./byte_encoding.ts";

const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte);

/** Bytes whose first two look like a byte order mark. */
const MARKED_BYTES = new Uint8Array([0xff, 0xfe, 0, 0xfe, 0xff]);

Deno.test("encodeBase64(), decodeBase64() and encodeHex() convert all bytes", () => {
  const cases: readonly (readonly [Uint8Array, string, string])[] = [
    [new Uint8Array(), "", ""],
    [new Uint8Array([0xff]), "/w==", "ff"],
    [new Uint8Array([0, 1, 0xfe]), "AAH+", "0001fe"],
    [MARKED_BYTES, "//4A/v8=", "fffe00feff"],
  ];
  for (const [bytes, base64, hex] of cases) {
    // The method of the runtime, if it has one, and the fallback.
    const withoutMethods = Object.assign(bytes.slice(), { toBase64: undefined });
    assertEquals([encodeBase64(bytes), encodeBase64(withoutMethods)], [base64, base64]);
    assertEquals(decodeBase64(base64), bytes);
    assertEquals(encodeHex(bytes), hex);
  }
  assertEquals(decodeBase64(encodeBase64(ALL_BYTES)), ALL_BYTES);
});

Deno.test("toBinaryString() and fromBinaryString() convert each byte to the character with its code", () => {
  for (const bytes of [new Uint8Array(), ALL_BYTES, MARKED_BYTES]) {
    const text = toBinaryString(bytes);
    assertEquals(Array.from(text, (character) => character.charCodeAt(0)), [...bytes]);
    assertEquals(fromBinaryString(text), bytes);
  }
});
