import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { SessionError } from "../../core/errors/errors.ts";
import { checkSessionId, createRandomId, createSessionId } from "./session_id.ts";

Deno.test("createSessionId() starts with the UTC time and is a valid file name", () => {
  const now = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  assertEquals(createSessionId(now, "abc"), "20260102-030405-abc");
  assertMatch(createSessionId(now), /^20260102-030405-[0-9a-v]{12}$/);
  checkSessionId(createSessionId(now));
});

Deno.test("createSessionId(): rejects a time that is not that of a date", () => {
  for (const time of [NaN, Infinity, 8.64e15 + 1]) {
    const error = assertThrows(() => createSessionId(time), SessionError, "correct the clock");
    assertEquals(error.reason, "bad_id");
  }
});

Deno.test("createRandomId() returns distinct ids", () => {
  const ids = new Set(Array.from({ length: 10_000 }, createRandomId));
  assertEquals(ids.size, 10_000);
});

Deno.test("checkSessionId(): accepts any text of 1 to 200 characters without control characters", () => {
  for (const id of ["a", "auth0|123", "amy@example.com", "../x", "né 😀", "x".repeat(200)]) {
    checkSessionId(id);
  }
  for (const id of ["", "a\nb", "a\0b", "\ud800", "x".repeat(201), 5, null, ["a"]]) {
    const error = assertThrows(() => checkSessionId(id as string), SessionError);
    assertEquals(error.reason, "bad_id");
  }
});

Deno.test("checkSessionId(): the message of a long id has only its beginning", () => {
  const error = assertThrows(() => checkSessionId("x".repeat(1_000_000)), SessionError);
  assert(error.message.length < 400);
});
