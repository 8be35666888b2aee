import { assertEquals } from "@std/assert";
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
