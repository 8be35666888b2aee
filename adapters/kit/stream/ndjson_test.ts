import { assertEquals } from "@std/assert";
import { NdjsonParser } from "./ndjson.ts";

function parseLines(body: string, size: number): string[] {
  const bytes = new TextEncoder().encode(body);
  const lines: string[] = [];
  const parser = new NdjsonParser();
  for (let start = 0; start < bytes.length; start += size) {
    parser.feed(bytes.slice(start, start + size), (line) => lines.push(line));
  }
  parser.end((line) => lines.push(line));
  return lines;
}

Deno.test("NdjsonParser: reads lines in chunks of any size with any line ends", () => {
  const body = '{"a":"é"}\r\n\r\n{"b":"😀"}\n \n{"c":3}';
  for (const size of [1, 2, 3, 5, 1000]) {
    assertEquals(parseLines(body, size), ['{"a":"é"}', '{"b":"😀"}', '{"c":3}']);
  }
});

Deno.test("NdjsonParser: an empty body has no lines", () => {
  assertEquals(parseLines("", 1), []);
});
