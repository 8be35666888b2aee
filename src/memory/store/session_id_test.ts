import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { SessionError } from "../../core/errors.ts";
import { checkSessionId, createRandomId, createSessionId } from "./session_id.ts";

Deno.test("a new name tells the time, sorts by it, and can be used as a file's name", () => {
  const now = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  assertEquals(createSessionId(now, "abc"), "20260102-030405-abc");
  assertMatch(createSessionId(now), /^20260102-030405-[0-9a-v]{12}$/);
  checkSessionId(createSessionId(now));
});

Deno.test("random names do not collide", () => {
  const names = new Set(Array.from({ length: 10_000 }, createRandomId));
  assertEquals(names.size, 10_000);
});

Deno.test("A 145: names that could lead elsewhere are refused", () => {
  const bad = [
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
  for (const id of [...bad, "é", "a b", "x".repeat(129)]) {
    const error = assertThrows(() => checkSessionId(id), SessionError);
    assertEquals(error.reason, "bad_id");
  }
  for (const id of ["a", "A-1_b.c", "console", "x".repeat(128)]) checkSessionId(id);
});
