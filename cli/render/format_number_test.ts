import { assertEquals } from "@std/assert";
import { formatCompact, formatNumber } from "./format_number.ts";

Deno.test("formatNumber: formats integers as en-US does", () => {
  for (const count of [0, 7, 999, 1_000, 12_345, 999_999, 1_000_000, 1_234_567_890]) {
    assertEquals(formatNumber(count), count.toLocaleString("en-US"));
  }
});

Deno.test("formatCompact(): formats counts with three digits and a unit", () => {
  const formatted = {
    0: "0",
    999: "999",
    1_000: "1.0k",
    12_345: "12.3k",
    99_949: "99.9k",
    99_950: "100k",
    999_499: "999k",
    1_000_000: "1.0M",
    123_456_789: "123M",
  };
  for (const [count, text] of Object.entries(formatted)) {
    assertEquals(formatCompact(Number(count)), text);
  }
});
