import { assertEquals, assertThrows } from "@std/assert";
import {
  countOrZero,
  objectsOrEmpty,
  readList,
  readObject,
  readText,
  textOrEmpty,
  toArgumentsText,
} from "./wire_values.ts";

Deno.test("readText(), readList(), readObject(): return missing content as none, and throw for other types", () => {
  for (const missing of [undefined, null]) {
    assertEquals(
      [readText(missing), readList(missing), readObject(missing)],
      ["", [], undefined],
    );
  }
  assertEquals([readText("x"), readList([1]), readObject({ a: 1 })], ["x", [1], { a: 1 }]);
  for (const value of [0, true, {}, []]) {
    assertThrows(() => readText(value), TypeError, "Expected a text");
  }
  for (const value of ["", "x", 0, {}]) {
    assertThrows(() => readList(value as unknown as []), TypeError, "Expected a list");
  }
  for (const value of ["", "x", 0, []]) {
    assertThrows(() => readObject(value as object), TypeError, "Expected an object");
  }
});

Deno.test("textOrEmpty(), countOrZero(): return other values as none", () => {
  assertEquals([textOrEmpty("x"), countOrZero(1.5)], ["x", 1.5]);
  for (const value of [undefined, null, {}, true]) {
    assertEquals([textOrEmpty(value), countOrZero(value)], ["", 0]);
  }
  assertEquals([-1, NaN, Infinity, "5"].map(countOrZero), [0, 0, 0, 0]);
});

Deno.test("objectsOrEmpty(): leaves out what is no object", () => {
  assertEquals(objectsOrEmpty([{ a: 1 }, null, "x", [], 5] as object[]), [{ a: 1 }]);
  for (const value of [undefined, null, 5, "x", {}]) {
    assertEquals(objectsOrEmpty(value as unknown as []), []);
  }
});

Deno.test("toArgumentsText(): returns the JSON of arguments that are sent as a value", () => {
  assertEquals([undefined, null, "", "{", { a: 1 }, [1], 0].map((args) => toArgumentsText(args)), [
    "",
    "",
    "",
    "{",
    '{"a":1}',
    "[1]",
    "0",
  ]);
  const source = '{"args":{"id":9007199254740993}}';
  const { args } = JSON.parse(source);
  assertEquals(toArgumentsText(args, source), '{"id":9007199254740993}');
});
