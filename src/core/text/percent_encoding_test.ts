import { assertEquals } from "@std/assert";
import { decodePercentEncoded } from "./percent_encoding.ts";

Deno.test("decodePercentEncoded(): returns a malformed text unchanged", () => {
  assertEquals(["a%20b", "100%", "%E0%A4"].map(decodePercentEncoded), ["a b", "100%", "%E0%A4"]);
});
