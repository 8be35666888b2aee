import { assertEquals } from "@std/assert";
import { describeValue } from "./describe_value.ts";

Deno.test("describeValue() quotes the beginning of a text, and names other values", () => {
  const cases: readonly (readonly [value: unknown, description: string])[] = [
    ["5", '"5"'],
    [5, "5"],
    [5n, "5"],
    ["null", '"null"'],
    [null, "null"],
    [undefined, "undefined"],
    [true, "true"],
    ["", '""'],
    ['a "quoted"\nline', '"a \\"quoted\\"\\nline"'],
    ["a".repeat(100), `"${"a".repeat(100)}"`],
    ["a".repeat(101), `"${"a".repeat(100)}"`],
    [[1], "an array"],
    [{}, "an object"],
    [() => {}, "a function"],
    [Promise.resolve(), "a promise"],
    [Symbol("s"), "Symbol(s)"],
  ];
  for (const [value, description] of cases) assertEquals(describeValue(value), description);
});
