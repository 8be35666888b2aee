import { assertEquals, assertFalse } from "@std/assert";
import { decodeText, encodeText } from "./stored_text.ts";

Deno.test("encodeText(): encodes what a column cannot have, and nothing else", () => {
  for (const text of ["", "auth0|123", "C:\\work", "é \u{1F600} \u2028", "\ue000"]) {
    assertEquals(decodeText(encodeText(text)), text);
  }
  for (const text of ["a\0b", "\ud800", "\udc00\ud800", "\ue0000000", "\u{1F600}\udc00"]) {
    const encoded = encodeText(text);
    assertFalse(encoded.includes("\0"));
    assertEquals(encoded, encoded.toWellFormed());
    assertEquals(decodeText(encoded), text);
  }
  assertEquals(encodeText("plain \\u0000"), "plain \\u0000");
});
