import { assertEquals, assertStringIncludes } from "@std/assert";
import type { JsonValue } from "../core/json/json.ts";
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

/** Takes a match, expects none, and returns the explanation. */
function explainUnmatched(exchanges: RecordedExchanges, request: CassetteRequest): string {
  assertEquals(exchanges.takeMatch(request), undefined);
  return exchanges.explainMismatch(request);
}

Deno.test("RecordedExchanges: matches by method, URL and body, in any order of members", () => {
  const exchanges = createExchanges(createRequest({ a: 1, b: { c: 2, d: [3] } }));
  assertEquals(exchanges.takeMatch(createRequest({ b: { d: [3], c: 2 }, a: 1 }))?.exchange, 1);
  const others = [
    createRequest({ a: 1, b: { c: 2, d: [4] } }),
    createRequest({ a: 1, b: { c: 2, d: [3] } }, "https://api.example.com/b"),
    createRequest({ a: 1, b: { c: 2, d: [3] } }, URL_A, "PUT"),
    { method: "POST", url: URL_A, headers: {} },
    { method: "POST", url: URL_A, headers: {}, body: { text: "a" } },
  ];
  for (const unmatched of others) {
    assertEquals(
      createExchanges(createRequest({ a: 1, b: { c: 2, d: [3] } })).takeMatch(unmatched),
      undefined,
    );
  }
});

Deno.test("RecordedExchanges: ignores headers", () => {
  const exchanges = createExchanges({
    ...createRequest(1),
    headers: { "x-api-key": "[redacted]" },
  });
  assertEquals(
    exchanges.takeMatch({ ...createRequest(1), headers: { "user-agent": "other" } })?.exchange,
    1,
  );
});

Deno.test("RecordedExchanges: answers a repeated request as often as it was recorded, in order", () => {
  const exchanges = createExchanges(createRequest(1), createRequest(2), createRequest(1));
  assertEquals(
    [1, 2].map(() => exchanges.takeMatch(createRequest(1))?.exchange),
    [1, 3],
  );
  assertEquals(exchanges.unused.map(({ exchange }) => exchange), [2]);
  assertEquals(
    explainUnmatched(exchanges, createRequest(1)),
    `No exchange in "a.jsonl" matches request 3, POST ${URL_A}.
2 exchanges match, but all were replayed before.
If the requests changed on purpose, record the cassette again.`,
  );
});

Deno.test("explainMismatch() compares an unrecorded request with the closest exchange", () => {
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
    `No exchange in "a.jsonl" matches request 1, POST ${URL_A}.
The closest is exchange 2, which differs in
  messages[1].content[0].text
    recorded  "What is new?"
    actual    "What is old?"
  ["a-b"]
    recorded  (missing)
    actual    1
If the requests changed on purpose, record the cassette again.`,
  );
});

Deno.test("explainMismatch() prefers an unused exchange among the closest ones", () => {
  const exchanges = createExchanges(createRequest("a"), createRequest("b"), createRequest("c"));
  exchanges.takeMatch(createRequest("a"));
  assertStringIncludes(
    explainUnmatched(exchanges, createRequest("x")),
    "The closest is exchange 2",
  );
});

Deno.test("explainMismatch() quotes the part in which long texts differ", () => {
  const long = (word: string) => `${"a ".repeat(500)}${word}${" b".repeat(500)}`;
  const lines = explainUnmatched(
    createExchanges(createRequest(long("one"))),
    createRequest(long("two")),
  ).split("\n");
  assertEquals(lines[2], "  the body");
  assertEquals(lines[3], `    recorded  …"${"a ".repeat(20)}one${" b".repeat(38)} "…`);
  assertEquals(lines[4], `    actual    …"${"a ".repeat(20)}two${" b".repeat(38)} "…`);
});

Deno.test("explainMismatch() shows the first 8 differences and counts the others", () => {
  const numbers = (first: number) => Array.from({ length: 20 }, (_, index) => first + index);
  const explanation = explainUnmatched(
    createExchanges(createRequest(numbers(0))),
    createRequest(numbers(1)),
  );
  assertStringIncludes(
    explanation,
    "[7]\n    recorded  7\n    actual    8\n  and 12 more\n",
  );
});

Deno.test("explainMismatch() lists the recorded requests when the address was not recorded", () => {
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
    ["Recorded requests:", `  POST ${URL_A}`, "  PUT https://api.example.com/b"],
  );
  assertStringIncludes(
    explainUnmatched(createExchanges(), createRequest(1)),
    "The cassette has no exchanges.",
  );
});

Deno.test("RecordedExchanges: treats __proto__ and constructor as plain members", () => {
  const odd = JSON.parse('{"__proto__":{"a":1},"constructor":2}');
  const exchanges = createExchanges(createRequest(odd));
  assertStringIncludes(
    explainUnmatched(exchanges, createRequest({})),
    '__proto__\n    recorded  {"a":1}\n    actual    (missing)',
  );
  assertEquals(exchanges.takeMatch(createRequest(odd))?.exchange, 1);
});

const [ID_A, ID_B, ID_C] = [1, 2, 3].map((digit) =>
  `1b4e28ba-2fa1-4d4b-a3f5-${digit}`.padEnd(36, "0")
);
const withIds = (...ids: readonly (string | undefined)[]) =>
  createRequest({ text: "a", calls: ids.map((id) => ({ id: id ?? null })) });

Deno.test("RecordedExchanges: ignores the ids that an agent has generated for a call and its result", () => {
  const exchanges = createExchanges(withIds(ID_A, ID_B, ID_A, ID_B));
  assertEquals(exchanges.takeMatch(withIds(ID_A, ID_B, ID_B, ID_A)), undefined);
  assertEquals(exchanges.takeMatch(withIds(ID_B, ID_C, ID_B, ID_C))?.exchange, 1);
});

Deno.test("RecordedExchanges: compares random ids that are no ids of calls", () => {
  assertEquals(createExchanges(withIds(ID_A)).takeMatch(withIds(ID_B)), undefined);
  const inText = (id: string) => createRequest([`Order ${id}`, `Order ${id}`]);
  assertEquals(
    createExchanges(inText(String(ID_A))).takeMatch(inText(String(ID_B))),
    undefined,
  );
});

Deno.test("RecordedExchanges: prefers the exchange with the same ids of calls", () => {
  const exchanges = createExchanges(withIds(ID_A, ID_A), withIds(ID_B, ID_B), withIds(ID_C, ID_C));
  assertEquals(
    [ID_B, ID_B, ID_A].map((id) => exchanges.takeMatch(withIds(id, id))?.exchange),
    [2, 1, 3],
  );
  assertStringIncludes(
    explainUnmatched(exchanges, withIds(ID_A, ID_A)),
    "3 exchanges match, but all were replayed before.",
  );
});

Deno.test("RecordedExchanges: a mismatch names no difference between generated ids", () => {
  const create = (id: string | undefined, text: string) =>
    createRequest({ calls: [id, id].map((id) => ({ id: id ?? null })), text });
  const text = explainUnmatched(createExchanges(create(ID_A, "a")), create(ID_B, "b"));
  assertStringIncludes(text, "text");
  assertEquals([ID_A, ID_B].filter((id) => text.includes(id ?? "")), []);
});

Deno.test("RecordedExchanges: compares ids that are not of the kind that agents generate", () => {
  const [first, second] = [ID_A, ID_B].map((id) => id?.replace("-4d4b-", "-7d4b-"));
  assertEquals(
    createExchanges(withIds(first, first)).takeMatch(withIds(second, second)),
    undefined,
  );
});
