import { assertEquals, assertThrows } from "@std/assert";
import { StreamError } from "../../../src/core/errors/errors.ts";
import { LineDecoder } from "./line_decoder.ts";

/** Decodes a body in chunks of one size. */
function decode(body: string, chunkBytes = Infinity): string {
  const decoder = new LineDecoder();
  const bytes = new TextEncoder().encode(body);
  let text = "";
  const onLines = (lines: string) => void (text += lines);
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    decoder.feed(bytes.subarray(start, Math.min(start + chunkBytes, bytes.length)), onLines);
  }
  decoder.end(onLines);
  return text;
}

for (
  const [name, body, expected] of [
    ["LF", "a\nb\n", "a\nb\n"],
    ["CRLF", "a\r\nb\r\n", "a\nb\n"],
    ["CR", "a\rb\r", "a\nb\n"],
    ["mixed line breaks that end in CR", "a\r\nb\r", "a\nb\n"],
    ["no line break at the end", "a\r\nö€", "a\nö€\n"],
    ["a byte order mark at the start", "\uFEFFa\n\uFEFFb\n", "a\n\uFEFFb\n"],
    ["a byte order mark alone", "\uFEFF", "\n"],
    ["empty lines", "a\r\n\r\n\rb\n\n", "a\n\n\nb\n\n"],
  ] as const
) {
  Deno.test(`LineDecoder: chunks of any size give the same lines for ${name}`, () => {
    assertEquals(decode(body), expected);
    for (let chunkBytes = 1; chunkBytes < 8; chunkBytes++) {
      assertEquals(decode(body, chunkBytes), expected, `chunks of ${chunkBytes} bytes`);
    }
  });
}

Deno.test("LineDecoder: a line feed after text is a line end, although a line of the last chunk ended in CR", () => {
  const decoder = new LineDecoder();
  let text = "";
  for (const chunk of ["a\rb", "\nc\n"]) {
    decoder.feed(new TextEncoder().encode(chunk), (lines) => void (text += lines));
  }
  assertEquals(text, "a\nb\nc\n");
});

Deno.test("LineDecoder: throws when more than 64 MiB arrive without a line end", () => {
  const decoder = new LineDecoder();
  const ignore = () => {};
  const mebibyte = new Uint8Array(2 ** 20).fill("x".charCodeAt(0));
  for (let count = 0; count < 64; count++) decoder.feed(mebibyte, ignore);
  const feedOne = () => decoder.feed(mebibyte.subarray(0, 1), ignore);
  assertThrows(feedOne, StreamError, "A line of the response exceeds 64 MiB");
});
