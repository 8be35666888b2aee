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

Deno.test("parseArguments() refuses integers whose last digits would be lost", () => {
  for (
    const [text, number] of [
      ['{"id":1234567890123456789}', "1234567890123456789"],
      ['{"a":[{"id": -9007199254740993 }]}', "-9007199254740993"],
      ['{"a":"\\"","id":12345678901234567890123}', "12345678901234567890123"],
    ] as const
  ) {
    const reason =
      `The number ${number} has more digits than a number keeps; write it as a text or round it`;
    assertEquals(parseArguments(text), { reason });
  }
});

Deno.test("parseArguments() accepts long numbers that keep their value, and digits in texts", () => {
  for (
    const value of [
      { id: "1234567890123456789", "1234567890123456789": 1 },
      { text: 'a "1234567890123456789": \\1234567890123456789 \\' },
      { n: Number.MAX_SAFE_INTEGER, exact: 2 ** 63, short: 1.2345678901234567e20, huge: 6.02e23 },
      { pi: Math.PI, small: 1.2345678901234567e-20 },
    ]
  ) {
    assertEquals(parseArguments(JSON.stringify(value)), { value });
  }
  assertEquals(parseArguments('{"n":0.12345678901234567890}'), {
    value: { n: 0.12345678901234568 },
  });
  assertEquals("value" in parseArguments('{"n":12345678901234567890.5e3}'), true);
  assertEquals(parseArguments('{"n":9223372036854775808}'), { value: { n: 2 ** 63 } });
});

Deno.test("parseArguments() accepts 200 levels and refuses more", () => {
  const refused = { reason: "The arguments are nested more than 200 levels deep" };
  assertEquals("value" in parseArguments(nest(200)), true);
  assertEquals(parseArguments(nest(201)), refused);
  assertEquals(parseArguments(nest(20_000)), refused);
  assertEquals(parseArguments(nest(1, "[".repeat(100_000) + "]".repeat(100_000))), refused);
});
