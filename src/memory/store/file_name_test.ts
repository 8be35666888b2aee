import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { decodeFileName, encodeFileName, isHashedName } from "./file_name.ts";

Deno.test("encodeFileName(): keeps ids that are safe file names", () => {
  for (const id of ["a", "a-1_b.c", "console", "20260102-030405-0a1b2c3d4e5f", "x".repeat(200)]) {
    assertEquals(encodeFileName(id), id);
    assertEquals(decodeFileName(id), id);
  }
});

Deno.test("encodeFileName(): encodes other ids as names that are safe on every platform, reversibly [A145]", () => {
  const names = {
    "auth0|123": "auth0%7C123",
    "amy@example.com": "amy%40example.com",
    "../x": "%2E.%2Fx",
    "..": "%2E%2E",
    "a..b": "a%2E.b",
    "a.": "a%2E",
    "-a": "%2Da",
    ".a": "%2Ea",
    "a/b\\c": "a%2Fb%5Cc",
    "100%": "100%25",
    "CON": "%43%4F%4E",
    "con": "%63on",
    "Ada": "%41da",
    "nul.txt": "%6Eul.txt",
    "né 😀": "n%C3%A9%20%F0%9F%98%80",
  };
  for (const [id, name] of Object.entries(names)) {
    assertEquals(encodeFileName(id), name);
    assertEquals(decodeFileName(name), id);
  }
});

Deno.test("encodeFileName(): hashes ids whose names would be too long", () => {
  const name = encodeFileName("é".repeat(200));
  assertMatch(name, /^(%C3%A9)+(%C3)?(%.{0,1})?%%[0-9a-f]{16}$/);
  assertEquals([name.length <= 200, isHashedName(name), decodeFileName(name)], [
    true,
    true,
    undefined,
  ]);
  assertNotEquals(name, encodeFileName(`${"é".repeat(199)}e`));
});

Deno.test("decodeFileName(): returns undefined for names of other programs", () => {
  for (const name of ["a b", "%", "%61", "Ada", "a%2eb", ".hidden", "%%"]) {
    assertEquals(decodeFileName(name), undefined);
  }
});

Deno.test("encodeFileName(): names of ids that differ in case are not the same without case", () => {
  const ids = ["ada", "Ada", "ADA", "aDa", "é", "É", `${"é".repeat(100)}x`, `${"é".repeat(100)}X`];
  const names = new Set(ids.map((id) => encodeFileName(id).toLowerCase()));
  assertEquals(names.size, ids.length);
});
