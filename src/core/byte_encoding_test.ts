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

Deno.test("encodeBase64() and decodeBase64() agree with the methods of Uint8Array", () => {
  for (const bytes of [new Uint8Array(), new Uint8Array([0xff]), ALL_BYTES, MARKED_BYTES]) {
    assertEquals(encodeBase64(bytes), bytes.toBase64());
    assertEquals(decodeBase64(bytes.toBase64()), bytes);
    assertEquals(encodeHex(bytes), bytes.toHex());
  }
});

Deno.test("encodeBase64() does not need the method of Uint8Array, which Node 24 does not have", () => {
  const bytes = Object.assign(new Uint8Array(ALL_BYTES), { toBase64: undefined });
  assertEquals(encodeBase64(bytes), ALL_BYTES.toBase64());
});

Deno.test("toBinaryString() and fromBinaryString() convert each byte to the character with its code", () => {
  for (const bytes of [new Uint8Array(), ALL_BYTES, MARKED_BYTES]) {
    const text = toBinaryString(bytes);
    assertEquals(Array.from(text, (character) => character.charCodeAt(0)), [...bytes]);
    assertEquals(fromBinaryString(text), bytes);
  }
});
