import { assertEquals } from "@std/assert";
import { findRetryAfter, parseDuration, parseRetryAfter } from "./retry_after.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

/** Values of `Retry-After` and the delay in milliseconds. */
const HEADERS: Readonly<Record<string, number | undefined>> = {
  "5": 5000,
  "0": 0,
  " 7 ": 7000,
  "1.5": 1500,
  "Thu, 01 Jan 2026 00:00:30 GMT": 30_000,
  "Wed, 31 Dec 2025 23:59:00 GMT": 0,
  "soon": undefined,
  "-3": undefined,
  "": undefined,
  "2026": 2_026_000,
  "5, 10": 5000,
  "1767225630": 30_000,
  "1767225630000": 30_000,
  "Thursday, 01-Jan-26 00:00:30 GMT": 30_000,
  "Thu Jan  1 00:00:30 2026": 30_000,
  "Thu, 99 Jan": undefined,
  "2026-01-01T00:00:30Z": undefined,
};

for (const [header, expected] of Object.entries(HEADERS)) {
  Deno.test(`parseRetryAfter(): "${header}" is ${expected} [A141, B70]`, () => {
    assertEquals(parseRetryAfter(header, NOW), expected);
  });
}

Deno.test("parseDuration(): accepts hours, minutes, seconds and milliseconds", () => {
  assertEquals(parseDuration("125ms"), 125);
  assertEquals(parseDuration("20s"), 20_000);
  assertEquals(parseDuration("6m0s"), 360_000);
  assertEquals(parseDuration("1h2m3.5s"), 3_723_500);
  assertEquals(parseDuration("40.025771073s"), 40_026);
  assertEquals(parseDuration("1d2h"), 93_600_000);
  assertEquals(parseDuration(" 1.5 minutes, 1 second "), 91_000);
  assertEquals(parseDuration("5us"), undefined);
  assertEquals(parseDuration("5 sunsets"), undefined);
  assertEquals(parseDuration(""), undefined);
  assertEquals(parseDuration("5"), undefined);
});

function getDelay(
  headers: Record<string, string>,
  message = "",
  body: Record<string, unknown> = {},
): number | undefined {
  return findRetryAfter({ headers: new Headers(headers), message, body, now: NOW });
}

Deno.test("findRetryAfter(): prefers retry-after-ms to retry-after", () => {
  assertEquals(getDelay({ "retry-after-ms": "250", "retry-after": "9" }), 250);
});

Deno.test("findRetryAfter(): reads the delay in the body or the message", () => {
  const details = [{ "@type": "x.RetryInfo", retryDelay: "34.4s" }];
  assertEquals(getDelay({}, "", { error: { details } }), 34_400);
  assertEquals(getDelay({}, "Please try again in 125ms. Visit …"), 125);
  assertEquals(getDelay({}, "Please retry in 40.5s."), 40_500);
  assertEquals(getDelay({}, "Please try again later."), undefined);
});

Deno.test("findRetryAfter(): uses the reset time of exhausted limits only", () => {
  assertEquals(
    getDelay({
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "6m0s",
      "x-ratelimit-remaining-tokens": "12",
      "x-ratelimit-reset-tokens": "9h0m0s",
    }),
    360_000,
  );
  assertEquals(
    getDelay({
      "anthropic-ratelimit-tokens-remaining": "0",
      "anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:12Z",
    }),
    12_000,
  );
  assertEquals(
    getDelay({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW + 4000) }),
    4000,
  );
});

Deno.test("findRetryAfter(): reads the headers in an error of OpenRouter, after all other sources", () => {
  const createBody = (headers: unknown) => ({ error: { metadata: { headers } } });
  const reset = createBody({
    "X-RateLimit-Remaining": "0",
    "X-RateLimit-Reset": String(NOW + 4000),
  });
  assertEquals(getDelay({}, "", reset), 4000);
  assertEquals(getDelay({}, "", createBody({ "Retry-After": 7 })), 7000);
  assertEquals(getDelay({ "retry-after": "1" }, "", reset), 1000);
  for (const headers of [null, "x", [], { "X-RateLimit-Remaining": "0" }]) {
    assertEquals(getDelay({}, "", createBody(headers)), undefined);
  }
});

Deno.test("findRetryAfter(): of several exhausted limits the longest reset counts", () => {
  const names = ["requests", "input-tokens", "output-tokens"];
  const resets = ["20s", "10s", "30s"];
  const headers = names.flatMap((name, index) => [
    [`x-ratelimit-remaining-${name}`, "0"],
    [`x-ratelimit-reset-${name}`, resets[index] ?? ""],
  ]);
  assertEquals(getDelay(Object.fromEntries(headers)), 30_000);
});

Deno.test("findRetryAfter(): an empty reset time is none", () => {
  assertEquals(getDelay({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "" }), undefined);
});

Deno.test("findRetryAfter(): finds delays in words in a message", () => {
  const find = (message: string) =>
    findRetryAfter({ headers: new Headers(), message, body: {}, now: NOW });
  assertEquals(find("Please retry after 20 seconds."), 20_000);
  assertEquals(find("Try again in 1 second"), 1000);
  assertEquals(find("Please try again in 20s."), 20_000);
  assertEquals(find("Please try again in 1m2.5s, or later"), 62_500);
  assertEquals(find("Retry in 2 minutes"), 120_000);
  assertEquals(find("Please retry after 24 hours."), 86_400_000);
  assertEquals(find("Please wait for 5 sec before the next request"), 5000);
  assertEquals(find("Wait 3 days and 2 hours"), 259_200_000);
  assertEquals(find("Retry in 5 modes"), undefined);
});

/** Values of the `RateLimit` header and the delay in milliseconds. */
const STRUCTURED: Readonly<Record<string, number | undefined>> = {
  '"default";r=0;t=30': 30_000,
  '"default"; r=0; t=30': 30_000,
  '"day";r=0;t=3600, "minute";r=0;t=20': 3_600_000,
  '"day";r=100;t=3600, "minute";r=0;t=20': 20_000,
  '"default";r=10;t=30': undefined,
  '"default";r=05;t=30': undefined,
  '"default";r=0': undefined,
  "limit=100, remaining=0, reset=50": 50_000,
  "limit=100, remaining=7, reset=50": undefined,
  "": undefined,
};

for (const [header, expected] of Object.entries(STRUCTURED)) {
  Deno.test(`findRetryAfter(): RateLimit "${header}" is ${expected}`, () => {
    assertEquals(getDelay({ ratelimit: header }), expected);
  });
}

Deno.test("findRetryAfter(): prefers Retry-After to RateLimit", () => {
  assertEquals(getDelay({ "retry-after": "3", ratelimit: '"a";r=0;t=30' }), 3000);
});

Deno.test("findRetryAfter(): returns a safe integer for a delay of hundreds of digits", () => {
  const digits = "9".repeat(400);
  const sources = [
    { headers: new Headers({ "retry-after": digits }), message: "" },
    { headers: new Headers(), message: `Please try again in ${digits}s` },
  ];
  for (const source of sources) {
    const delayMs = findRetryAfter({ ...source, body: {}, now: NOW });
    assertEquals(delayMs, Number.MAX_SAFE_INTEGER);
  }
});
