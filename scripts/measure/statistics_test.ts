import { assertEquals } from "@std/assert";
import { computeQuantiles } from "./statistics.ts";

Deno.test("computeQuantiles() takes the nearest rank", () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  assertEquals(computeQuantiles(values), { median: 50, p90: 90, p99: 99, max: 100 });
  assertEquals(computeQuantiles([7]), { median: 7, p90: 7, p99: 7, max: 7 });
  assertEquals(computeQuantiles([]), { median: 0, p90: 0, p99: 0, max: 0 });
});
