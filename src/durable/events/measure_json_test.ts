import { assertEquals } from "@std/assert";
import { measureJson } from "./measure_json.ts";

Deno.test("measureJson: every value counts, and the characters of texts and names", () => {
  assertEquals(measureJson(null), 8);
  assertEquals(measureJson("12345"), 13);
  assertEquals(measureJson([1, true, ["1"]]), 8 * 5 + 1);
  assertEquals(measureJson({ name: "12345", [""]: { a: null } }), 8 * 4 + 4 + 5 + 1);
});
