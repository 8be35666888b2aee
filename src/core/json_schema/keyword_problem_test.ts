import { assertEquals } from "@std/assert";
import { findKeywordProblem } from "./keyword_problem.ts";

/** Keywords with values that are valid, and others that are not. */
const VALUES: readonly (readonly [
  keywords: string,
  valid: readonly unknown[],
  invalid: readonly unknown[],
  problem: string,
])[] = [
  ["$ref pattern", ["", "a"], [5, null, true], "must be a string"],
  [
    "$defs definitions dependencies dependentSchemas patternProperties properties",
    [{}, { a: true }],
    [[], null, "a", 5],
    "must be an object",
  ],
  [
    "allOf anyOf oneOf prefixItems",
    [[true], [{}, {}]],
    [[], {}, true],
    "must be a list of schemas",
  ],
  ["enum", [[], [1]], [{}, "a"], "must be a list"],
  ["exclusiveMaximum exclusiveMinimum", [0, -1.5, true, false], ["1", null], "must be a number"],
  ["maximum minimum", [0, -1.5], [true, "1", null], "must be a number"],
  ["multipleOf", [0.1, 3], [0, -1, "1"], "must be a number above 0"],
  [
    "maxContains maxItems maxLength maxProperties minContains minItems minLength minProperties",
    [0, 7],
    [-1, "1", null],
    "must be a number of at least 0",
  ],
  ["uniqueItems", [true, false], [1, "true"], "must be true or false"],
  ["required", [[], ["a", "b"]], [["a", 5], "a", true], "must be a list of property names"],
  [
    "dependentRequired",
    [{}, { a: ["b"] }],
    [[], { a: ["b"], c: "d" }, { a: [5] }],
    "must be an object of lists of property names",
  ],
  ["$async", [false], [true], "is not part of JSON Schema: remove it"],
];

for (const [keywords, valid, invalid, problem] of VALUES) {
  for (const keyword of keywords.split(" ")) {
    Deno.test(`findKeywordProblem(): a value of ${keyword} ${problem}`, () => {
      for (const value of valid) assertEquals(findKeywordProblem(keyword, value), undefined);
      for (const value of invalid) assertEquals(findKeywordProblem(keyword, value), problem);
    });
  }
}

Deno.test("findKeywordProblem(): a type must be one of the seven, or a list of them", () => {
  const types = ["array", "boolean", "integer", "null", "number", "object", "string"];
  for (const type of [...types, types, ["string", "null"]]) {
    assertEquals(findKeywordProblem("type", type), undefined);
  }
  const problem = "must be one of array, boolean, integer, null, number, object, string, not";
  assertEquals(findKeywordProblem("type", "text"), `${problem} "text"`);
  assertEquals(findKeywordProblem("type", ["string", "int"]), `${problem} "int"`);
  assertEquals(findKeywordProblem("type", []), `${problem} undefined`);
});

Deno.test("findKeywordProblem(): accepts any value of other keywords", () => {
  assertEquals(findKeywordProblem("title", 5), undefined);
});
