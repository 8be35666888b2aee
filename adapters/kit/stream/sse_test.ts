import { assertEquals, assertThrows } from "@std/assert";
import { StreamError } from "../../../src/core/errors.ts";
import { seededRandom } from "../../../src/testing/seeded_random.ts";
import { SseParser } from "./sse.ts";

const encoder = new TextEncoder();

/** The data of all events of a body that comes in pieces of a size. */
function parseData(body: string | Uint8Array, sizeOf: () => number = () => Infinity): string[] {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const data: string[] = [];
  const parser = new SseParser();
  for (let start = 0; start < bytes.length;) {
    const end = Math.min(bytes.length, start + sizeOf());
    parser.feed(bytes.slice(start, end), (event) => data.push(event));
    start = end;
  }
  parser.end((event) => data.push(event));
  return data;
}

/** A body, and the data of its events (A 127, B 63). */
const BODIES: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  "LF": ["data: one\n\ndata: two\n\n", ["one", "two"]],
  "CRLF": ["data: one\r\n\r\ndata: two\r\n\r\n", ["one", "two"]],
  "CR": ["data: one\r\rdata: two\r\r", ["one", "two"]],
  "mixed line ends": ["data: one\r\n\ndata: two\r\r\ndata: three\n\r", ["one", "two", "three"]],
  "data without a space": ["data:one\n\n", ["one"]],
  "data with two spaces": ["data:  one\n\n", [" one"]],
  "data without a colon": ["data\n\n", [""]],
  "data of several lines": ["data: one\ndata: two\n\n", ["one\ntwo"]],
  "comments": [": hello\n\ndata: one\n: in between\n\n", ["one"]],
  "other fields": ["event: x\nid: 7\nretry: 10\ndata: one\n\n", ["one"]],
  "blank lines without data": ["\n\n\ndata: one\n\n\n\n", ["one"]],
  "no final blank line": ["data: one\n\ndata: two\n", ["one", "two"]],
  "no final line end": ["data: one\n\ndata: two", ["one", "two"]],
  "characters of two to four bytes": ["data: é€😀\n\ndata: 日本語\n\n", ["é€😀", "日本語"]],
  "a byte order mark": ["\uFEFFdata: one\n\n", ["one"]],
  "a replacement character that was sent": ["data: \uFFFD\n\n", ["\uFFFD"]],
  "nothing": ["", []],
};

for (const [name, [body, expected]] of Object.entries(BODIES)) {
  Deno.test(`A 127: events with ${name} are read whole, in single bytes and in random pieces`, () => {
    const random = seededRandom(name.length);
    assertEquals(parseData(body), expected);
    assertEquals(parseData(body, () => 1), expected);
    for (let round = 0; round < 20; round++) {
      assertEquals(parseData(body, () => 1 + Math.floor(random() * 5)), expected);
    }
  });
}

Deno.test("an event is given as soon as its blank line is there", () => {
  const data: string[] = [];
  const parser = new SseParser();
  for (const piece of ["data: o", "ne\r", "\n\r", "data: two"]) {
    parser.feed(encoder.encode(piece), (event) => data.push(event));
  }
  assertEquals(data, ["one"]);
});

Deno.test("A 127: bytes that are not UTF-8 are an error, after the events before them", () => {
  const body = new Uint8Array([...encoder.encode("data: one\n\ndata: "), 0xff, 0x0a, 0x0a]);
  const data: string[] = [];
  const parser = new SseParser();
  assertThrows(() => parser.feed(body, (event) => data.push(event)), StreamError, "UTF-8");
  assertEquals(data, ["one"]);
});

Deno.test("lines that belong to no event are handed over", () => {
  const stray: string[] = [];
  const parser = new SseParser({ onUnknownLine: (line) => stray.push(line) });
  parser.feed(encoder.encode('event: x\ndata: one\n\n{\n  "error": 1\n}\n\n'), () => {});
  assertEquals(stray, ["{", '  "error": 1', "}"]);
});

Deno.test("random events come out as they went in, however they are cut", () => {
  const random = seededRandom(2026);
  const pick = (most: number) => Math.floor(random() * most);
  const alphabet = ["a", "{", '"', " ", ":", "é", "😀", "\\", "data"];
  const lineEnds = ["\n", "\r\n", "\r"];
  for (let round = 0; round < 200; round++) {
    const lineEnd = lineEnds[pick(3)] ?? "\n";
    const events = Array.from(
      { length: 1 + pick(6) },
      () => Array.from({ length: pick(8) }, () => alphabet[pick(alphabet.length)]).join(""),
    );
    const body = events.map((data) => `data: ${data}${lineEnd}${lineEnd}`).join("");
    assertEquals(parseData(body, () => 1 + pick(9)), events);
  }
});

Deno.test("a long line in single bytes takes linear time", () => {
  const body = encoder.encode(`data: ${"x".repeat(200_000)}\n\n`);
  const startedAt = performance.now();
  assertEquals(parseData(body, () => 1)[0]?.length, 200_000);
  const took = performance.now() - startedAt;
  if (took > 2000) throw new Error(`took ${took} ms`);
});
