import { assertEquals } from "@std/assert";
import {
  fillTestColumn,
  parseRequirements,
  readRequirementTests,
} from "../scripts/requirements.ts";
import { root } from "./project.ts";

const tests = await readRequirementTests(root);
const page = await Deno.readTextFile(new URL("docs/requirements.md", root));
const { requirements, notCovered } = parseRequirements(page);
const tested = new Set(tests.flatMap(({ numbers }) => numbers));
const listed = requirements.flatMap(({ numbers }) => numbers);

Deno.test("docs/requirements.md has every number that a title names", () => {
  assertEquals([...tested].filter((number) => !listed.includes(number)), []);
});

Deno.test("docs/requirements.md has a test for every number, and each number once", () => {
  assertEquals(listed.filter((number) => !tested.has(number)), []);
  const all = [...listed, ...notCovered];
  assertEquals(all.filter((number, index) => all.indexOf(number) !== index), []);
});

Deno.test("docs/requirements.md names the current tests; `deno task requirements` updates it", () => {
  assertEquals(page, fillTestColumn(page, tests));
});
