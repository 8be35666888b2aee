import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createSandbox } from "../sandbox/local_sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { codingTools } from "../coding_tools.ts";
import { extractText } from "../../core/content.ts";
import type { JsonObject } from "../../core/json.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { testToolContext } from "../../testing/test_tool_context.ts";

Deno.test("search_files: finds lines by regular expression, grouped by file in order", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("b.ts", "const x = 1;\nlet y = 2;\n");
  workspace.writeFile("a/c.ts", "const z = 3;\r\n");
  workspace.writeFile("a/d.md", "const");
  assertEquals(
    (await workspace.callTool("search_files", { pattern: "^const (x|z)" })).text,
    "a/c.ts\n1: const z = 3;\n\nb.ts\n1: const x = 1;",
  );
  const inPath = { pattern: "CONST", path: "a", glob: "*.md", ignore_case: true };
  assertEquals((await workspace.callTool("search_files", inPath)).text, "a/d.md\n1: const");
  assertEquals(
    (await workspace.callTool("search_files", { pattern: "let", path: "b.ts" })).text,
    "b.ts\n2: let y = 2;",
  );
});

Deno.test("search_files: shows each line of context once", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "1\nx\n3\nx\n5\n6\n7\n8\nx\n");
  assertEquals(
    (await workspace.callTool("search_files", { pattern: "x", context: 1 })).text,
    "a.txt\n1- 1\n2: x\n3- 3\n4: x\n5- 5\n--\n8- 8\n9: x",
  );
});

Deno.test("search_files: finds files by glob", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("src/a.ts", "");
  workspace.writeFile("src/deep/b.ts", "");
  workspace.writeFile("c.md", "");
  assertEquals(
    (await workspace.callTool("search_files", { glob: "*.ts" })).text,
    "src/a.ts\nsrc/deep/b.ts",
  );
  assertEquals((await workspace.callTool("search_files", { glob: "src/*.ts" })).text, "src/a.ts");
  assertEquals((await workspace.callTool("search_files", { glob: "*.py" })).text, "No files found");
});

Deno.test("search_files: omits ignored, binary, protected and .git files and does not follow links", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile(".gitignore", "ignored.txt\n");
  workspace.writeFile("ignored.txt", "needle");
  workspace.writeFile(".env", "needle");
  workspace.writeFile(".git/config", "needle");
  workspace.writeFile("binary", new Uint8Array([0, ...new TextEncoder().encode("needle")]));
  workspace.writeFile(".hidden", "needle");
  Deno.writeTextFileSync(`${workspace.outside}/secret`, "needle");
  Deno.symlinkSync(workspace.outside, `${workspace.directory}/link`);
  assertEquals(
    (await workspace.callTool("search_files", { pattern: "needle" })).text,
    ".hidden\n1: needle",
  );
});

Deno.test("search_files: reports that it stopped at max_results, and shortens a long line to the part around its match", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "x\n".repeat(10));
  workspace.writeFile("b.txt", `${"-".repeat(5_000)}needle${"-".repeat(5_000)}`);
  assertStringIncludes(
    (await workspace.callTool("search_files", { pattern: "x", max_results: 3 })).text,
    "3: x\n\n[Stopped after 3 lines;",
  );
  const { text } = await workspace.callTool("search_files", { pattern: "needle" });
  assertStringIncludes(text, "-needle-");
  assert(text.length < 500);
});

Deno.test("search_files: rejects missing and invalid patterns and a missing path with a reason", async () => {
  await using workspace = new TestWorkspace();
  const search = async (args: JsonObject) => (await workspace.callTool("search_files", args)).text;
  assertEquals(await search({}), "Set pattern, glob, or both");
  assertStringIncludes(await search({ pattern: "(" }), "The pattern is invalid");
  assertStringIncludes(await search({ pattern: "x", path: "nowhere" }), "does not exist");
});

Deno.test("search_files: returns the same matches with and without rg", async () => {
  await using workspace = new TestWorkspace();
  const random = seededRandom(9);
  const words = ["foo", "bar", "foo_bar", "x1", " ", "(", "é", "\t", ".", "Foo"];
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? "";
  for (let file = 0; file < 30; file++) {
    const lines = Array.from(
      { length: 8 },
      () => Array.from({ length: 5 }, () => pick(words)).join(""),
    );
    workspace.writeFile(`d${file % 4}/f${file}.txt`, lines.join(file % 2 ? "\n" : "\r\n"));
  }
  workspace.writeFile("d1/.gitignore", "f1.txt\nf5*\n");
  const patterns = [
    "foo",
    "\\bfoo\\b",
    "fo+",
    "^foo",
    "bar$",
    "[a-f]+\\d",
    "\\(",
    "é",
    "o\\tb",
    "^\\s",
    "x|\\.",
    "(?=x)",
  ];
  const toolWithoutRg = codingTools({
    sandbox: withoutPrograms(createSandbox({ cwd: workspace.directory })),
  })
    .find(({ name }) => name === "search_files");
  for (const pattern of patterns) {
    for (const path of [".", "d1"]) {
      const args = { pattern, path, ignore_case: random() < 0.3, context: 1 };
      const context = testToolContext();
      const output = await toolWithoutRg?.execute(args, context);
      const expected = typeof output === "object" ? extractText(output.content) : "";
      assertEquals(
        (await workspace.callTool("search_files", args)).text,
        expected,
        JSON.stringify(args),
      );
    }
  }
});

/** Wraps a sandbox so that starting a program fails as if none were installed. */
function withoutPrograms(sandbox: Sandbox): Sandbox {
  return {
    root: sandbox.root,
    files: sandbox.files,
    startCommand: (command, options) => sandbox.startCommand(command, options),
    getOutputPath: (name) => sandbox.getOutputPath(name),
    net: sandbox.net,
    setNet: (net) => sandbox.setNet(net),
    describe: () => sandbox.describe(),
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}
