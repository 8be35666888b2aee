import { assert, assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../core/errors.ts";
import { type CassetteExchange, cassetteHeader, exchangeLine, readCassette } from "./cassette.ts";
import { seededRandom } from "../testing/seeded_random.ts";

const request = { method: "POST", url: "https://api.example.com/", headers: {} };

function exchange(number: number): CassetteExchange {
  return {
    exchange: number,
    request: { ...request, body: { json: { number } } },
    response: { at: 1, status: 200, headers: { "content-type": "text/event-stream" } },
    chunks: [{ at: 2, text: "data: hi\n\n" }, { at: 3, base64: "4oI=" }],
    end: { type: "complete", at: 4 },
  };
}

const whole = cassetteHeader(5) + exchangeLine(exchange(1)) + exchangeLine(exchange(2));

Deno.test("a cassette is read as it was written", () => {
  assertEquals(readCassette(whole, "a.jsonl"), {
    recordedAt: 5,
    exchanges: [exchange(1), exchange(2)],
  });
});

Deno.test("exchanges come in the order in which they were asked, not that of their ends", () => {
  const text = cassetteHeader(5) + exchangeLine(exchange(2)) + exchangeLine(exchange(1));
  assertEquals(readCassette(text, "a.jsonl").exchanges.map((each) => each.exchange), [1, 2]);
});

Deno.test("whatever a crash leaves of the last line, the lines before it are whole", () => {
  const first = cassetteHeader(5) + exchangeLine(exchange(1));
  for (let end = first.length; end < whole.length; end++) {
    assertEquals(readCassette(whole.slice(0, end), "a.jsonl").exchanges, [exchange(1)]);
  }
});

Deno.test("a file that is no cassette, or one of another version, is told from one", () => {
  for (const text of ["", "notes\n", "{}\n", "[1]\n", '{"cassette":"1","recordedAt":0}\n']) {
    const error = assertThrows(() => readCassette(text, "a.txt"), BadRequestError);
    assertEquals(error.message, '"a.txt" is not a cassette');
  }
  const error = assertThrows(
    () => readCassette('{"cassette":2,"recordedAt":0}\n', "a.jsonl"),
    BadRequestError,
  );
  assertEquals(
    error.message,
    'The cassette "a.jsonl" has version 2, and this program reads version 1: record it again',
  );
});

Deno.test("a damaged line is told with its number", () => {
  const text = `${cassetteHeader(5)}${exchangeLine(exchange(1))}{"exchange":2}\n`;
  const error = assertThrows(() => readCassette(text, "a.jsonl"), BadRequestError);
  assertEquals(error.message, "a.jsonl:3 is not an exchange: record the cassette again");
});

Deno.test("a line is an exchange only if all of it is", () => {
  const good = exchange(1);
  const bad: unknown[] = [
    { ...good, exchange: "1" },
    { ...good, request: { ...request, url: 1 } },
    { ...good, request: { ...request, headers: { a: 1 } } },
    { ...good, request: { ...request, body: "x" } },
    { ...good, response: { at: 1, status: 99, headers: {} } },
    { ...good, response: { at: 1, status: 200 } },
    { ...good, chunks: [{ at: 1 }] },
    { ...good, chunks: [{ at: 1, base64: "*" }] },
    { ...good, end: { type: "failed", at: 1 } },
    { ...good, end: { type: "gone", at: 1 } },
    null,
    1,
  ];
  for (const value of bad) {
    assertThrows(
      () => readCassette(`${cassetteHeader(5)}${JSON.stringify(value)}\n`, "a.jsonl"),
      BadRequestError,
      "a.jsonl:2",
    );
  }
});

Deno.test("whatever a file holds, it is read or refused with words (seed 7)", () => {
  const random = seededRandom(7);
  for (let round = 0; round < 500; round++) {
    const characters = [...whole];
    for (let count = 0; count < 1 + random() * 4; count++) {
      const at = Math.floor(random() * characters.length);
      characters[at] = String.fromCharCode(Math.floor(random() * 128));
    }
    try {
      assert(readCassette(characters.join(""), "a.jsonl").exchanges.length <= 3);
    } catch (error) {
      assert(error instanceof BadRequestError, String(error));
    }
  }
});
