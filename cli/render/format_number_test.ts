import { assertEquals } from "@std/assert";
import { formatNumber } from "./format_number.ts";

Deno.test("formatNumber: formats integers as en-US does", () => {
  for (const count of [0, 7, 999, 1_000, 12_345, 999_999, 1_000_000, 1_234_567_890]) {
    assertEquals(formatNumber(count), count.toLocaleString("en-US"));
  }
});
