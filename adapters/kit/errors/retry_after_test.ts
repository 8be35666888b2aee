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

Deno.test("findRetryAfter(): finds seconds in words in a message", () => {
  const find = (message: string) =>
    findRetryAfter({ headers: new Headers(), message, body: {}, now: NOW });
  assertEquals(find("Please retry after 20 seconds."), 20_000);
  assertEquals(find("Try again in 1 second"), 1000);
  assertEquals(find("Please try again in 20s."), 20_000);
});
