import { assertEquals } from "@std/assert";
import { parseArguments } from "./parse_arguments.ts";

function nest(levels: number, text = "1"): string {
  return '{"a":'.repeat(levels) + text + "}".repeat(levels);
}

Deno.test("parseArguments() parses an object, and blank text as an empty one", () => {
  assertEquals(parseArguments('{"city":"Bern"}'), { value: { city: "Bern" } });
  assertEquals(parseArguments(" \n"), { value: {} });
});

Deno.test("parseArguments() returns the reason for text that is not an object", () => {
  for (const text of ["[]", "5", "null", '"x"']) {
    assertEquals(parseArguments(text), { reason: "The arguments must be a JSON object" });
  }
  assertEquals("reason" in parseArguments('{"city":"Be'), true);
});

Deno.test("parseArguments() refuses numbers that are out of range", () => {
  const refused = { reason: "The arguments are not readable, since a number is out of range" };
  assertEquals(parseArguments('{"n":1e400}'), refused);
  assertEquals(parseArguments('{"a":[{"n":-1e400}]}'), refused);
  assertEquals(parseArguments('{"n":1e308}'), { value: { n: 1e308 } });
});

Deno.test("parseArguments() accepts 200 levels and refuses more", () => {
  const refused = { reason: "The arguments are nested more than 200 levels deep" };
  assertEquals("value" in parseArguments(nest(200)), true);
  assertEquals(parseArguments(nest(201)), refused);
  assertEquals(parseArguments(nest(20_000)), refused);
  assertEquals(parseArguments(nest(1, "[".repeat(100_000) + "]".repeat(100_000))), refused);
});
