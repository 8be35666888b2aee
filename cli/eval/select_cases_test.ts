import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../host/cli_error.ts";
import { selectCases } from "./select_cases.ts";

const SET = {
  id: "set",
  cases: [
    { id: "fix_a", userMessages: ["Go"], tags: ["slow"] },
    { id: "fix_b.c", userMessages: ["Go"] },
    { id: "ask", userMessages: ["Go"], tags: ["slow", "ask_a"] },
  ],
};

const select = (...filter: string[]) =>
  selectCases(SET, { filter, repeat: undefined }).cases.map(({ id }) => id);

Deno.test("selectCases: a pattern matches a complete id or tag, and a star any text", () => {
  assertEquals(select("ask"), ["ask"]);
  assertEquals(select("fix*"), ["fix_a", "fix_b.c"]);
  assertEquals(select("*a"), ["fix_a", "ask"]);
  assertEquals(select("*_*.c"), ["fix_b.c"]);
  assertEquals(select("fix_b.c", "slow").length, 3);
  assertEquals(select("*").length, 3);
  assertThrows(() => select("fi", ""), UsageError, "matches fi, ");
  for (const pattern of ["fix_bxc", "fix_a*fix_a"]) {
    assertThrows(() => select(pattern), UsageError, `matches ${pattern}`);
  }
});

Deno.test("selectCases: a pattern that matches none is an error also with others", () => {
  assertThrows(() => select("ask", "fix_c", "slow"), UsageError, "that matches fix_c");
});

Deno.test("selectCases: a pattern with many stars does not take long", () => {
  const long = { ...SET, cases: [{ id: "a".repeat(100), userMessages: ["Go"] }] };
  const filter = ["*a".repeat(40) + "b"];
  assertThrows(() => selectCases(long, { filter, repeat: undefined }), UsageError);
});

Deno.test("selectCases: repeat replaces the number of runs", () => {
  const { cases } = selectCases(SET, { filter: undefined, repeat: 3 });
  assertEquals(cases.map(({ repetitions }) => repetitions), [3, 3, 3]);
});
