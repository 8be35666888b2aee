import { assertEquals } from "@std/assert";
import { findTypeErrors, listIgnoredExamples } from "./check_ignored_examples.ts";

Deno.test("listIgnoredExamples() makes modules of the blocks that are not run, without those of other libraries", () => {
  const page = [
    '```ts ignore\nimport { Agent } from "@swink/agent";\n\nexport const a = new Agent();\n```',
    "```ts\nrun();\n```",
    '```ts ignore\nimport { tool } from "ai";\n```',
  ].join("\n\n");
  assertEquals(listIgnoredExamples("docs/a.md", page), [{
    place: "docs/a.md:1",
    source:
      'import { Agent } from "@swink/agent";\n\nexport async function example() {\n\nconst a = new Agent();\n\n}\n',
  }]);
});

Deno.test("listIgnoredExamples() reads the comments of source files", () => {
  const source =
    "/**\n * Text.\n *\n * ```ts ignore\n * call(1);\n * ```\n */\nexport const x = 1;\n";
  assertEquals(
    listIgnoredExamples("src/a.ts", source).map((
      { place, source },
    ) => [place, source.includes("call(1);")]),
    [["src/a.ts:4", true]],
  );
});

Deno.test("findTypeErrors() returns errors, except for names that an example does not declare", () => {
  const output = [
    "TS2304 [ERROR]: Cannot find name 'tools'.\n    at file:///a.ts\n",
    "TS2345 [ERROR]: Argument of type 'string'\n    at file:///b.ts\n",
  ].join("\n");
  assertEquals(findTypeErrors(output), [
    "TS2345 [ERROR]: Argument of type 'string'\n    at file:///b.ts",
  ]);
});
