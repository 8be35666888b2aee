import { assert, assertEquals } from "@std/assert";
import { groupProjectTests, groupTests } from "./group_tests.ts";

Deno.test("groupTests() groups neighbours, those of slow directories first", () => {
  const files = ["src/b_test.ts", "cli/x/a_test.ts", "tests/cli/c_test.ts", "src/a_test.ts"];
  assertEquals(groupTests(files.map((path) => ({ path, isAlone: false }))), [
    { name: "tests_cli_1_test.ts", files: ["tests/cli/c_test.ts"] },
    { name: "cli_1_test.ts", files: ["cli/x/a_test.ts"] },
    { name: "src_1_test.ts", files: ["src/a_test.ts", "src/b_test.ts"] },
  ]);
});

Deno.test("groupTests() makes a group of each file that needs its own isolate", () => {
  const files = [
    { path: "src/a_test.ts", isAlone: false },
    { path: "src/b_test.ts", isAlone: true },
    { path: "src/c_test.ts", isAlone: false },
  ];
  assertEquals(groupTests(files).map(({ files }) => files), [
    ["src/a_test.ts", "src/c_test.ts"],
    ["src/b_test.ts"],
  ]);
});

Deno.test("groupTests() makes groups of nearly the same size of many files", () => {
  const files = Array.from(
    { length: 50 },
    (_, i) => ({ path: `src/${i}_test.ts`, isAlone: false }),
  );
  assertEquals(groupTests(files).map(({ files }) => files.length), [17, 17, 16]);
});

Deno.test("groupProjectTests() finds every test file once, and those that need their own isolate", async () => {
  const groups = await groupProjectTests();
  const files = groups.flatMap(({ files }) => files);
  assertEquals(files.length, new Set(files).size);
  assertEquals(new Set(groups.map(({ name }) => name)).size, groups.length);
  const path = "src/core/json_schema/pattern_test.ts";
  assertEquals(groups.find(({ files }) => files.includes(path))?.files, [path]);
  for (const file of ["scripts/group_tests_test.ts", "tests/documentation_test.ts"]) {
    assert(files.includes(file), file);
  }
  assert(!files.some((file) => /node_modules|^dist\/|official_types\//.test(file)));
});
