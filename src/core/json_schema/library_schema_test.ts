import { assertEquals } from "@std/assert";
import { isLibrarySchema } from "./library_schema.ts";

class Type {
  readonly type = "object";
  parse(): void {}
}

class Data {
  readonly type = "object";
}

Deno.test("isLibrarySchema() is true for objects with own, hidden and inherited methods", () => {
  const hidden = Object.defineProperty({ tag: "string" }, "parse", { value: () => {} });
  for (const value of [{ is: () => true }, hidden, new Type(), new Date(), new Map(), Type]) {
    assertEquals(isLibrarySchema(value), true);
  }
});

Deno.test("isLibrarySchema() is false for data of any prototype, and calls no getter", () => {
  const getter = Object.defineProperty({}, "type", {
    get: () => {
      throw new Error("A getter was called");
    },
  });
  const otherRealm = Object.create(Object.create(null, { toString: { value: () => "" } }));
  const symbol = { type: "object", [Symbol("Kind")]: () => {} };
  const values = [
    {},
    { type: "object" },
    Object.create(null),
    new Data(),
    getter,
    otherRealm,
    symbol,
  ];
  for (const value of values) assertEquals(isLibrarySchema(value), false);
});
