import { assertEquals, assertMatch } from "@std/assert";
import { findLostDigits, restoreDigits } from "./parsed_problem.ts";

function restore(source: string): string {
  return restoreDigits(JSON.stringify(JSON.parse(source)), source);
}

Deno.test("restoreDigits() writes integers that parsing changes as in the source", () => {
  for (const digits of ["9007199254740993", "-1234567890123456789", "12345678901234567890123"]) {
    const source = `{"id":${digits},"list":[1,${digits}]}`;
    assertEquals(restore(source), source);
    assertMatch(findLostDigits(restore(source)) ?? "", new RegExp(digits));
  }
});

Deno.test("restoreDigits() leaves texts and exact numbers unchanged", () => {
  const texts = String.raw`{"a":"9007199254740992","b\"9007199254740992":"\\","c":[0.5,1e300]}`;
  const source = texts.replace("}", ',"id":9007199254740993}');
  assertEquals(restore(source), source.replace("1e300", "1e+300"));
  assertEquals(restore('{"id":9007199254740992}'), '{"id":9007199254740992}');
  assertEquals(restoreDigits('{"id":9007199254740992}', "{}"), '{"id":9007199254740992}');
});

Deno.test("restoreDigits() reads texts of many escaped characters", () => {
  const source = `{"id":9007199254740993,"text":${JSON.stringify('"\\'.repeat(500_000))}}`;
  assertEquals(restore(source) === source, true);
});
