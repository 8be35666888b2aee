import { assert, assertEquals } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { readErrorBody, readErrorValue } from "./error_body.ts";

/** A body, its message and its codes. */
const BODIES: readonly (readonly [string, string, readonly string[]])[] = [
  ['{"error":{"message":"no","type":"t","code":"c"}}', "no", ["c", "t"]],
  ['{"type":"error","error":{"type":"x_error","message":"no"}}', "no", ["x_error", "error"]],
  ['{"code":"c","error":"no"}', "no", ["c", "c"]],
  ['{"message":"no","type":"t"}', "no", ["t", "t"]],
  ['{"detail":"no"}', "no", []],
  ['[{"error":{"code":400,"message":"no","status":"S"}}]', "no", ["S"]],
  ["plain text", "plain text", []],
  [
    "<html><head><title>502 Bad\n Gateway</title></head><body>x</body></html>",
    "502 Bad Gateway",
    [],
  ],
  ["<!DOCTYPE html><p>No <b>title</b></p>", "No title", []],
  ["", "", []],
  ["null", "", []],
  ['{"odd":1}', '{"odd":1}', []],
];

for (const [body, message, codes] of BODIES) {
  Deno.test(`readErrorBody(): finds message and codes of ${JSON.stringify(body)}`, () => {
    const error = readErrorBody(body);
    assertEquals([error.message, error.codes], [message, codes]);
  });
}

Deno.test("readErrorValue(): finds a status within the error, as a number or as text", () => {
  assertEquals(readErrorValue({ error: { code: 429 } }).status, 429);
  assertEquals(readErrorValue({ error: { code: "503" } }).status, 503);
  assertEquals(readErrorValue({ error: { status: 400, code: "x" } }).status, 400);
  assertEquals(readErrorValue({ error: { code: 7 } }).status, undefined);
});

Deno.test("readErrorValue(): reads details, inner errors and the message of an upstream provider", () => {
  const google = { error: { code: 400, message: "no", details: [{ reason: "API_KEY_INVALID" }] } };
  assertEquals(readErrorValue(google).codes[0], "API_KEY_INVALID");
  const azure = { error: { code: "x", innererror: { code: "ResponsibleAIPolicyViolation" } } };
  assertEquals(readErrorValue(azure).codes.includes("ResponsibleAIPolicyViolation"), true);
  const router = { error: { message: "Provider returned error", metadata: { raw: "slow down" } } };
  assertEquals(readErrorValue(router).message, "Provider returned error: slow down");
});

Deno.test("readErrorBody(): truncates a long message and removes control characters", () => {
  assertEquals(readErrorBody("a\u001b[2Jb\r\nc\u0007d").message, "a [2Jb c d");
  assertEquals(readErrorBody("x".repeat(20_000)).message.length, 10_000);
});

Deno.test("readErrorBody(): takes seconds at most, not minutes, for 500 KB of markup", () => {
  const getThreadTime = startThreadTimer();
  for (const piece of ["<", "<title", "<title>", "</", ">", " ", "&", "{"]) {
    readErrorBody(`<html>${piece.repeat(500_000 / piece.length)}`);
  }
  assert(getThreadTime() < 10_000);
});
