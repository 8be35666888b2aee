import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { SessionError } from "../../core/errors.ts";
import { checkSessionId, createRandomId, createSessionId } from "./session_id.ts";

Deno.test("createSessionId() starts with the UTC time and is a valid file name", () => {
  const now = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  assertEquals(createSessionId(now, "abc"), "20260102-030405-abc");
  assertMatch(createSessionId(now), /^20260102-030405-[0-9a-v]{12}$/);
  checkSessionId(createSessionId(now));
});

Deno.test("createRandomId() returns distinct ids", () => {
  const ids = new Set(Array.from({ length: 10_000 }, createRandomId));
  assertEquals(ids.size, 10_000);
});

Deno.test("checkSessionId() rejects ids that are not safe file names [A145]", () => {
  const unsafe = [
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "a\\b",
    "a:b",
    "a\0b",
    "-a",
    "a..b",
    "a.",
    "CON",
    "nul.txt",
  ];
  for (const id of [...unsafe, "é", "a b", "x".repeat(129)]) {
    const error = assertThrows(() => checkSessionId(id), SessionError);
    assertEquals(error.reason, "bad_id");
  }
  for (const id of ["a", "A-1_b.c", "console", "x".repeat(128)]) checkSessionId(id);
});
