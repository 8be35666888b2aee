import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { CallArguments } from "./call_arguments.ts";

/** JSON of nested objects whose members begin alike, with blanks. */
const nestedJson = fc.letrec<{ object: string; value: string }>((tie) => {
  const blank = fc.constantFrom("", " ", "\n");
  const member = fc.tuple(fc.constantFrom('"a"', '"b"', '"{"', '""'), blank, tie("value"))
    .map(([name, space, value]) => `${name}${space}:${space}${value}`);
  return {
    object: fc.tuple(blank, fc.array(member, { maxLength: 3 }))
      .map(([space, members]) => `${space}{${space}${members.join(`,${space}`)}}${space}`),
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom("1", "null", '""', '"{\\"a\\":"', '"}"', '"\\\\"'),
      fc.array(tie("value"), { maxLength: 2 }).map((values) => `[${values.join(",")}]`),
      tie("object"),
    ),
  };
}).object;

const lengths = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 9 });

/** Returns the ends of pieces of the given lengths, which repeat. */
function listEnds(json: string, sizes: readonly number[]): number[] {
  const ends: number[] = [];
  for (let end = 0; end < json.length;) {
    end = Math.min(json.length, end + (sizes[ends.length % sizes.length] ?? 1));
    ends.push(end);
  }
  return ends;
}

function assemble(pieces: readonly string[]): unknown {
  const args = new CallArguments();
  const text = pieces.map((piece) => args.take(piece)).join("") + args.end();
  return JSON.parse(text.trim() || "{}");
}

Deno.test("CallArguments: assembles parts, and pieces with all arguments so far, however they are split", () => {
  fc.assert(fc.property(nestedJson, lengths, (json, sizes) => {
    const ends = listEnds(json, sizes);
    const parts = ends.map((end, index) => json.slice(ends[index - 1] ?? 0, end));
    const cumulative = ends.map((end) => json.slice(0, end));
    for (const pieces of [parts, cumulative, [...cumulative, json], [...parts, json]]) {
      assertEquals(assemble(pieces), JSON.parse(json));
    }
  }));
});

Deno.test("CallArguments: an empty input before the arguments is not a part of them", () => {
  assertEquals(assemble(["{}", '{"a":', "1}"]), { a: 1 });
  assertEquals(assemble(["{}", '{"a":', '{"a":1}']), { a: 1 });
  assertEquals(assemble(["{}"]), {});
});

Deno.test("CallArguments: complete arguments after a value that begins like them are a repetition", () => {
  const json = '{"a":{"a":{"a":1}}}';
  for (const parts of [['{"a":', '{"a":{"a":1}}}'], ['{"a":', '{"a":', '{"a":1}}}']]) {
    assertEquals(assemble([...parts, json]), JSON.parse(json));
    assertEquals(assemble([...parts, json, json]), JSON.parse(json));
  }
});
