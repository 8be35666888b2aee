/**
 * The behaviour of `@std/cli` that the project relies on, for JSR's package and the one in `scripts/offline/`.
 *
 * @module
 */

import { assertEquals, assertThrows } from "@std/assert";
import { parseArgs } from "@std/cli/parse-args";
import { unicodeWidth } from "@std/cli/unicode-width";

Deno.test("@std/cli: unicodeWidth() adds up the widths of characters", () => {
  const widths = {
    "": 0,
    "abc": 3,
    "é…’": 3,
    "\0\t\n\x7f\x9b": 0,
    "世界한글ｆ": 10,
    "𗀀": 2,
    "e\u0301": 1,
    "\u00ad": 1,
    "\u200b\u200d\ufe0f\u20e3": 0,
    "\u1100\u1161\u11a8": 2,
    "นำ नि": 5,
    "❤️": 1,
    "👨‍👩‍👧👍🏽": 10,
  };
  for (const [text, width] of Object.entries(widths)) {
    assertEquals(unicodeWidth(text), width, JSON.stringify(text));
  }
});

Deno.test("@std/cli: parseArgs() reads flags, values and repeated values", () => {
  const parse = (...args: string[]) =>
    parseArgs(args, { boolean: ["list"], string: ["name", "tag"], collect: ["tag"] });
  assertEquals(parse(), { _: [], list: false, tag: [] });
  assertEquals(parse("--list", "a", "--name", "b", "--tag=c", "--tag", "d"), {
    _: ["a"],
    list: true,
    name: "b",
    tag: ["c", "d"],
  });
  assertEquals(parse("--tag").tag, [""]);
});

Deno.test("@std/cli: parseArgs() calls unknown for other options and arguments", () => {
  const parse = (...args: string[]) =>
    parseArgs(args, {
      string: ["name"],
      unknown: (argument) => {
        throw new Error(argument);
      },
    });
  assertEquals(parse("--name", "a").name, "a");
  assertThrows(() => parse("--nmae=a"), Error, "--nmae=a");
  assertThrows(() => parse("a"), Error, "a");
});
