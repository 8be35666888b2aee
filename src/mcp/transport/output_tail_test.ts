import { assertEquals } from "@std/assert";
import { OutputTail } from "./output_tail.ts";

Deno.test("OutputTail: keeps the last characters", () => {
  const tail = new OutputTail();
  assertEquals(tail.text, "");
  tail.push(new TextEncoder().encode("first\n"));
  tail.append("second\n");
  assertEquals(tail.text, "first\nsecond");
});

Deno.test("OutputTail: has no part of a word that was cut", () => {
  const tail = new OutputTail();
  tail.append(`token s3cret-value failed\n${"x".repeat(1_985)}\n`);
  assertEquals(tail.text, `failed\n${"x".repeat(1_985)}`);
  tail.append("y".repeat(3_000));
  assertEquals(tail.text, "");
});
