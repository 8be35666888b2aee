import { assertEquals } from "@std/assert";
import { listExamples, readExamples } from "./examples.ts";

Deno.test("listExamples() makes modules of the blocks, and of ignored ones without those of other libraries", () => {
  const text = [
    '```ts ignore\nimport { Agent } from "@swink/agent";\n\nexport const a = new Agent();\n```',
    "```ts\nrun();\n```",
    '```ts ignore\nimport { tool } from "ai";\n```',
    "```sh\nrun\n```",
  ].join("\n\n");
  assertEquals(listExamples({ path: "docs/a.md", text }), [{
    place: "docs/a.md:1",
    source:
      'import { Agent } from "@swink/agent";\n\nexport async function example() {\n\nconst a = new Agent();\n\n}\n',
    runs: false,
  }, {
    place: "docs/a.md:7",
    source: "run();\nexport {};\n",
    runs: true,
  }]);
});

Deno.test("listExamples() reads the comments of source files", () => {
  const text =
    "/**\n * Text.\n *\n * ```ts ignore\n * call(1);\n * ```\n */\nexport const x = 1;\n";
  const examples = listExamples({ path: "src/a.ts", text });
  assertEquals(
    examples.map(({ place, source }) => [place, source.includes("call(1);")]),
    [["src/a.ts:4", true]],
  );
});

Deno.test("readExamples() finds examples in pages and in comments", async () => {
  const places = (await readExamples()).map(({ place }) => place);
  assertEquals(places.length, new Set(places).size);
  for (const path of ["README.md", "docs/agents.md", "src/agent/agent.ts", "mod.ts"]) {
    assertEquals(places.some((place) => place.startsWith(`${path}:`)), true, path);
  }
});
