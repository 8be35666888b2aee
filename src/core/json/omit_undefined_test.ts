import { assertEquals } from "@std/assert";
import { omitUndefined } from "./omit_undefined.ts";

Deno.test("omitUndefined(): keeps every other value", () => {
  const options = { a: undefined, b: null, c: 0, d: "" };
  assertEquals(Object.entries(omitUndefined(options)), [["b", null], ["c", 0], ["d", ""]]);
});
