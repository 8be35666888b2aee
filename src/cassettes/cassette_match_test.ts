import { assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonValue } from "../core/json.ts";
import type { CassetteExchange, CassetteRequest } from "./cassette.ts";
import { RecordedExchanges } from "./cassette_match.ts";

const URL_A = "https://api.example.com/a";

function createRequest(json: JsonValue, url = URL_A, method = "POST"): CassetteRequest {
  return { method, url, headers: {}, body: { json } };
}

function createExchanges(...requests: CassetteRequest[]): RecordedExchanges {
  const exchanges = requests.map((request, index): CassetteExchange => ({
    exchange: index + 1,
    request,
    chunks: [],
    end: { type: "complete", at: 0 },
  }));
  return new RecordedExchanges("a.jsonl", exchanges);
}

/** What is said of a request that nothing answers. */
function explainUnmatched(exchanges: RecordedExchanges, request: CassetteRequest): string {
  assertEquals(exchanges.takeMatch(request), undefined);
  return exchanges.explainMismatch(request);
}

Deno.test("a request matches by method, address and body; the order of members does not matter", () => {
  const exchanges = createExchanges(createRequest({ a: 1, b: { c: 2, d: [3] } }));
  assertEquals(exchanges.takeMatch(createRequest({ b: { d: [3], c: 2 }, a: 1 }))?.exchange, 1);
  const others = [
    createRequest({ a: 1, b: { c: 2, d: [4] } }),
    createRequest({ a: 1, b: { c: 2, d: [3] } }, "https://api.example.com/b"),
    createRequest({ a: 1, b: { c: 2, d: [3] } }, URL_A, "PUT"),
    { method: "POST", url: URL_A, headers: {} },
    { method: "POST", url: URL_A, headers: {}, body: { text: "a" } },
  ];
  for (const other of others) {
    assertEquals(
      createExchanges(createRequest({ a: 1, b: { c: 2, d: [3] } })).takeMatch(other),
      undefined,
    );
  }
});

Deno.test("headers do not matter", () => {
  const exchanges = createExchanges({
    ...createRequest(1),
    headers: { "x-api-key": "[redacted]" },
  });
  assertEquals(
    exchanges.takeMatch({ ...createRequest(1), headers: { "user-agent": "other" } })?.exchange,
    1,
  );
});

Deno.test("the same request is answered as often as it was recorded, in that order", () => {
  const exchanges = createExchanges(createRequest(1), createRequest(2), createRequest(1));
  assertEquals(
    [exchanges.takeMatch(createRequest(1)), exchanges.takeMatch(createRequest(1))].map((each) =>
      each?.exchange
    ),
    [
      1,
      3,
    ],
  );
  assertEquals(exchanges.unused.map((each) => each.exchange), [2]);
  assertEquals(
    explainUnmatched(exchanges, createRequest(1)),
    `No exchange in "a.jsonl" answers request 3, POST ${URL_A}.
It was recorded 2 times, and has been answered as often.
What the program asks has changed: record the cassette again if it is meant to.`,
  );
});

Deno.test("a request that was not recorded is shown beside the closest one", () => {
  const message = (text: string) => ({ role: "user", content: [{ type: "text", text }] });
  const exchanges = createExchanges(
    createRequest({ model: "m", messages: [message("Hello")] }),
    createRequest({ model: "m", messages: [message("Hello"), message("What is new?")] }),
    createRequest({ model: "m" }, "https://api.example.com/b"),
  );
  assertEquals(
    explainUnmatched(
      exchanges,
      createRequest({
        model: "m",
        messages: [message("Hello"), message("What is old?")],
        "a-b": 1,
      }),
    ),
    `No exchange in "a.jsonl" answers request 1, POST ${URL_A}.
The closest is exchange 2, in which
  messages[1].content[0].text
    was  "What is new?"
    is   "What is old?"
  ["a-b"]
    was  nothing
    is   1
What the program asks has changed: record the cassette again if it is meant to.`,
  );
});

Deno.test("of long texts the part is shown in which they differ", () => {
  const long = (word: string) => `${"a ".repeat(500)}${word}${" b".repeat(500)}`;
  const lines = explainUnmatched(
    createExchanges(createRequest(long("one"))),
    createRequest(long("two")),
  ).split("\n");
  assertEquals(lines[2], "  the body");
  assertEquals(lines[3], `    was  …"${"a ".repeat(20)}one${" b".repeat(38)} "…`);
  assertEquals(lines[4], `    is   …"${"a ".repeat(20)}two${" b".repeat(38)} "…`);
});

Deno.test("of many differences the first are shown, and the others counted", () => {
  const numbers = (first: number) => Array.from({ length: 20 }, (_, index) => first + index);
  const said = explainUnmatched(
    createExchanges(createRequest(numbers(0))),
    createRequest(numbers(1)),
  );
  assertStringIncludes(said, "[7]\n    was  7\n    is   8\n  and 12 more\n");
});

Deno.test("an address that was not recorded is told with those that were", () => {
  const exchanges = createExchanges(
    createRequest(1),
    createRequest(2),
    createRequest(1, "https://api.example.com/b", "PUT"),
  );
  assertEquals(
    explainUnmatched(exchanges, createRequest(1, "https://api.example.com/c")).split("\n").slice(
      1,
      4,
    ),
    ["Recorded is:", `  POST ${URL_A}`, "  PUT https://api.example.com/b"],
  );
  assertStringIncludes(
    explainUnmatched(createExchanges(), createRequest(1)),
    "Nothing is recorded in it.",
  );
});

Deno.test("names that objects have by themselves are members like any other", () => {
  const odd = JSON.parse('{"__proto__":{"a":1},"constructor":2}');
  const exchanges = createExchanges(createRequest(odd));
  assertStringIncludes(
    explainUnmatched(exchanges, createRequest({})),
    '__proto__\n    was  {"a":1}\n    is   nothing',
  );
  assertEquals(exchanges.takeMatch(createRequest(odd))?.exchange, 1);
});
