import { assertEquals } from "@std/assert";
import { fillTestColumn, findRequirementTests, parseRequirements } from "./requirements.ts";

Deno.test("findRequirementTests() finds titles in strings, templates and tables", () => {
  const text = [
    'Deno.test("a: \\"b\\" works [1.1, A126a]", () => {});',
    'Deno.test(`a ${cause ? "with" : "without"} b [AC-1]`, () => {});',
    'const rows = [["c", 1], ["d [B2]", 2]];',
    'const others = ["[A1]", "e [DONE]", "f [0.1]", "[A2] g"];',
  ].join("\n");
  assertEquals(findRequirementTests("a_test.ts", text), [
    { file: "a_test.ts", title: 'a: "b" works', numbers: ["1.1", "A126a"] },
    { file: "a_test.ts", title: "a … b", numbers: ["AC-1"] },
    { file: "a_test.ts", title: "d", numbers: ["B2"] },
  ]);
});

const page = `# Requirements

| Number | Requirement | Test |
| --- | --- | --- |
| 1.1, A1 | It works. | old |
| B1 | It ends. | |

## Not covered

| Number | Reason |
| --- | --- |
| A2–A4, B2 | Not built. |
`;

Deno.test("parseRequirements() expands ranges under Not covered", () => {
  assertEquals(parseRequirements(page), {
    requirements: [
      { numbers: ["1.1", "A1"], sentence: "It works." },
      { numbers: ["B1"], sentence: "It ends." },
    ],
    notCovered: ["A2", "A3", "A4", "B2"],
  });
});

Deno.test("fillTestColumn() names a single title of a file, and only the file of several", () => {
  const filled = fillTestColumn(page, [
    { file: "src/a_test.ts", title: "works | <now>", numbers: ["A1"] },
    { file: "src/b_test.ts", title: "works", numbers: ["1.1"] },
    { file: "src/b_test.ts", title: "works again", numbers: ["A1"] },
  ]);
  assertEquals(filled.split("\n").slice(4, 6), [
    "| 1.1, A1 | It works. | [src/a_test.ts](../src/a_test.ts): works \\| \\<now><br>[src/b_test.ts](../src/b_test.ts) |",
    "| B1 | It ends. |  |",
  ]);
  assertEquals(fillTestColumn(filled, []).includes("old"), false);
});
