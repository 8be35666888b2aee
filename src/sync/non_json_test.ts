import { assertEquals } from "@std/assert";
import { describeNonJson } from "./non_json.ts";

Deno.test("describeNonJson() names the first part that is not JSON", () => {
  const cycle: Record<string, unknown> = { list: [] };
  cycle["list"] = [1, cycle];
  const failing = {
    toJSON: (): never => {
      throw new Error("detached");
    },
  };
  const cases: [unknown, string | undefined][] = [
    [{ a: [1, "b", null, true, undefined] }, undefined],
    [{ a: new Date(0), b: () => {} }, undefined],
    [5n, "result is a bigint"],
    [{ a: [{ b: 1 }, { b: 5n }] }, "result.a[1].b is a bigint"],
    [cycle, "result.list[1] contains itself"],
    [{ a: failing }, "result.a cannot be converted: detached"],
  ];
  for (const [value, problem] of cases) assertEquals(describeNonJson(value, "result"), problem);
});

Deno.test("describeNonJson() accepts an object that occurs twice", () => {
  const shared = { a: 1 };
  assertEquals(describeNonJson([shared, shared], "result"), undefined);
});
