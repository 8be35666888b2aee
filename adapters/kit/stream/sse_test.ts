import { assertEquals, assertLess, assertThrows } from "@std/assert";
import { StreamError } from "../../../src/core/errors/errors.ts";
import { seededRandom } from "../../../src/testing/seeded_random.ts";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { SseParser } from "./sse.ts";

const encoder = new TextEncoder();

/** Returns the data of all events of a body that arrives in chunks of the given sizes. */
function parseData(body: string | Uint8Array, nextSize: () => number = () => Infinity): string[] {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const data: string[] = [];
  const parser = new SseParser();
  for (let start = 0; start < bytes.length;) {
    const end = Math.min(bytes.length, start + nextSize());
    parser.feed(bytes.slice(start, end), (event) => data.push(event));
    start = end;
  }
  parser.end((event) => data.push(event));
  return data;
}

/** A body and the data of its events. */
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
  "a replacement character": ["data: \uFFFD\n\n", ["\uFFFD"]],
  "nothing": ["", []],
};

for (const [name, [body, expected]] of Object.entries(BODIES)) {
  Deno.test(`SseParser: reads events with ${name} in chunks of any size [A127, B63]`, () => {
    const random = seededRandom(name.length);
    assertEquals(parseData(body), expected);
    assertEquals(parseData(body, () => 1), expected);
    for (let round = 0; round < 20; round++) {
      assertEquals(parseData(body, () => 1 + Math.floor(random() * 5)), expected);
    }
  });
}

Deno.test("SseParser: emits an event as soon as its blank line arrives", () => {
  const data: string[] = [];
  const parser = new SseParser();
  for (const chunk of ["data: o", "ne\r", "\n\r", "data: two"]) {
    parser.feed(encoder.encode(chunk), (event) => data.push(event));
  }
  assertEquals(data, ["one"]);
});

Deno.test("SseParser: throws on invalid UTF-8 after the events before it [A127]", () => {
  const body = new Uint8Array([...encoder.encode("data: one\n\ndata: "), 0xff, 0x0a, 0x0a]);
  const data: string[] = [];
  const parser = new SseParser();
  assertThrows(() => parser.feed(body, (event) => data.push(event)), StreamError, "UTF-8");
  assertEquals(data, ["one"]);
});

Deno.test("SseParser: passes lines that belong to no event to onUnknownLine", () => {
  const unknown: string[] = [];
  const parser = new SseParser({ onUnknownLine: (line) => unknown.push(line) });
  parser.feed(encoder.encode('event: x\ndata: one\n\n{\n  "error": 1\n}\n\n'), () => {});
  assertEquals(unknown, ["{", '  "error": 1', "}"]);
});

Deno.test("SseParser: reads random events in random chunks", () => {
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

Deno.test("SseParser: reads a long line in single bytes in linear time", () => {
  const body = encoder.encode(`data: ${"x".repeat(500_000)}\n\n`);
  const getThreadTime = startThreadTimer();
  assertEquals(parseData(body, () => 1)[0]?.length, 500_000);
  // Quadratic work takes minutes; the bound allows for a busy machine.
  assertLess(getThreadTime(), 10_000);
});

Deno.test("SseParser: rejects an event above 64 MiB whose lines are short", () => {
  const parser = new SseParser();
  const line = encoder.encode(`data: ${"A".repeat(2 ** 20)}\n`);
  assertThrows(
    () => {
      for (let count = 0; count < 100; count++) parser.feed(line, () => {});
    },
    StreamError,
    "An event of the response exceeds 64 MiB",
  );
});
