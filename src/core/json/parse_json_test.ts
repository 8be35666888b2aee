import { assertEquals } from "@std/assert";
import { parseJsonOrUndefined } from "./parse_json.ts";

Deno.test("parseJsonOrUndefined(): returns undefined for a text that was cut off", () => {
  assertEquals(['{"a":1}', "null", '{"a":', ""].map(parseJsonOrUndefined), [
    { a: 1 },
    null,
    undefined,
    undefined,
  ]);
});
