import { assert, assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../core/errors/errors.ts";
import { seededRandom } from "../testing/seeded_random.ts";
import { type CassetteExchange, formatExchange, formatHeader, parseCassette } from "./cassette.ts";

const request = { method: "POST", url: "https://api.example.com/", headers: {} };

function createExchange(number: number): CassetteExchange {
  return {
    exchange: number,
    request: { ...request, body: { json: { number } } },
    response: { at: 1, status: 200, headers: { "content-type": "text/event-stream" } },
    chunks: [{ at: 2, text: "data: hi\n\n" }, { at: 3, base64: "4oI=" }],
    end: { type: "complete", at: 4 },
  };
}

const cassetteText = formatHeader(5) + formatExchange(createExchange(1)) +
  formatExchange(createExchange(2));

Deno.test("parseCassette() returns the exchanges that were formatted", () => {
  assertEquals(parseCassette(cassetteText, "a.jsonl"), {
    recordedAt: 5,
    exchanges: [createExchange(1), createExchange(2)],
  });
});

Deno.test("parseCassette() reads a file with a byte order mark, as some editors save it", () => {
  assertEquals(parseCassette(`\uFEFF${cassetteText}`, "a.jsonl").exchanges.length, 2);
});

Deno.test("parseCassette() sorts exchanges by the order of their requests", () => {
  const text = formatHeader(5) + formatExchange(createExchange(2)) +
    formatExchange(createExchange(1));
  assertEquals(parseCassette(text, "a.jsonl").exchanges.map(({ exchange }) => exchange), [
    1,
    2,
  ]);
});

Deno.test("parseCassette() skips an incomplete last line of any length", () => {
  const first = formatHeader(5) + formatExchange(createExchange(1));
  for (let end = first.length; end < cassetteText.length; end++) {
    assertEquals(parseCassette(cassetteText.slice(0, end), "a.jsonl").exchanges, [
      createExchange(1),
    ]);
  }
});

Deno.test("parseCassette() rejects a file that is not a cassette or has another version", () => {
  // The last one is a time that no date has.
  for (
    const text of [
      "",
      "notes\n",
      "{}\n",
      "[1]\n",
      '{"cassette":"1","recordedAt":0}\n',
      '{"cassette":1,"recordedAt":1e300}\n',
    ]
  ) {
    const error = assertThrows(() => parseCassette(text, "a.txt"), BadRequestError);
    assertEquals(error.message, '"a.txt" is not a cassette: its first line is not a header');
  }
  const error = assertThrows(
    () => parseCassette('{"cassette":2,"recordedAt":0}\n', "a.jsonl"),
    BadRequestError,
  );
  assertEquals(
    error.message,
    'Cassette "a.jsonl" has version 2, but version 1 is expected: record it again',
  );
});

Deno.test("parseCassette() names the line number of a damaged exchange", () => {
  const text = `${formatHeader(5)}${formatExchange(createExchange(1))}{"exchange":2}\n`;
  const error = assertThrows(() => parseCassette(text, "a.jsonl"), BadRequestError);
  assertEquals(error.message, "Invalid exchange at a.jsonl:3: record the cassette again");
});

Deno.test("parseCassette() rejects an exchange with an invalid member", () => {
  const good = createExchange(1);
  const bad: unknown[] = [
    { ...good, exchange: "1" },
    { ...good, request: { ...request, url: 1 } },
    { ...good, request: { ...request, headers: { a: 1 } } },
    { ...good, request: { ...request, body: "x" } },
    { ...good, response: { at: 1, status: 99, headers: {} } },
    { ...good, response: { at: 1, status: 200 } },
    { ...good, response: { at: 1, status: 200, headers: { "a b": "c" } } },
    { ...good, response: { at: 1, status: 200, headers: { a: "b\nc" } } },
    { ...good, response: undefined, end: { type: "complete", at: 1 } },
    { ...good, chunks: [{ at: 1 }] },
    { ...good, chunks: [{ at: 1, base64: "*" }] },
    { ...good, end: { type: "failed", at: 1 } },
    { ...good, end: { type: "gone", at: 1 } },
    null,
    1,
  ];
  for (const value of bad) assertInvalid(value);
});

Deno.test("parseCassette() rejects an exchange whose status text no response can have", () => {
  const response = { at: 1, status: 200, statusText: "日", headers: {} };
  assertInvalid({ ...createExchange(1), response });
});

function assertInvalid(exchange: unknown): void {
  assertThrows(
    () => parseCassette(`${formatHeader(5)}${JSON.stringify(exchange)}\n`, "a.jsonl"),
    BadRequestError,
    "a.jsonl:2",
  );
}

Deno.test("parseCassette() parses a mutated file or throws BadRequestError (seed 7)", () => {
  const random = seededRandom(7);
  for (let round = 0; round < 500; round++) {
    const characters = [...cassetteText];
    for (let count = 0; count < 1 + random() * 4; count++) {
      const position = Math.floor(random() * characters.length);
      characters[position] = String.fromCharCode(Math.floor(random() * 128));
    }
    try {
      assert(parseCassette(characters.join(""), "a.jsonl").exchanges.length <= 3);
    } catch (error) {
      assert(error instanceof BadRequestError, String(error));
    }
  }
});
