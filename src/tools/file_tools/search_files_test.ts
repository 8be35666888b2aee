import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createSandbox } from "../sandbox/local_sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { codingTools } from "../coding_tools.ts";
import { extractText } from "../../core/content.ts";
import type { JsonObject } from "../../core/json.ts";
import { seededRandom, TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";

Deno.test("lines are found by a regular expression, grouped by file, in order", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("b.ts", "const x = 1;\nlet y = 2;\n");
  bench.writeFile("a/c.ts", "const z = 3;\r\n");
  bench.writeFile("a/d.md", "const");
  assertEquals(
    (await bench.callTool("search_files", { pattern: "^const (x|z)" })).text,
    "a/c.ts\n1: const z = 3;\n\nb.ts\n1: const x = 1;",
  );
  const inPath = { pattern: "CONST", path: "a", glob: "*.md", ignore_case: true };
  assertEquals((await bench.callTool("search_files", inPath)).text, "a/d.md\n1: const");
  assertEquals(
    (await bench.callTool("search_files", { pattern: "let", path: "b.ts" })).text,
    "b.ts\n2: let y = 2;",
  );
});

Deno.test("lines around a match are shown once", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a.txt", "1\nx\n3\nx\n5\n6\n7\n8\nx\n");
  assertEquals(
    (await bench.callTool("search_files", { pattern: "x", context: 1 })).text,
    "a.txt\n1- 1\n2: x\n3- 3\n4: x\n5- 5\n--\n8- 8\n9: x",
  );
});

Deno.test("files are found by name", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("src/a.ts", "");
  bench.writeFile("src/deep/b.ts", "");
  bench.writeFile("c.md", "");
  assertEquals(
    (await bench.callTool("search_files", { glob: "*.ts" })).text,
    "src/a.ts\nsrc/deep/b.ts",
  );
  assertEquals((await bench.callTool("search_files", { glob: "src/*.ts" })).text, "src/a.ts");
  assertEquals((await bench.callTool("search_files", { glob: "*.py" })).text, "No files found");
});

Deno.test("ignored, binary, protected and git's own files are left out; links are not followed", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile(".gitignore", "ignored.txt\n");
  bench.writeFile("ignored.txt", "needle");
  bench.writeFile(".env", "needle");
  bench.writeFile(".git/config", "needle");
  bench.writeFile("binary", new Uint8Array([0, ...new TextEncoder().encode("needle")]));
  bench.writeFile(".hidden", "needle");
  Deno.writeTextFileSync(`${bench.outside}/secret`, "needle");
  Deno.symlinkSync(bench.outside, `${bench.directory}/link`);
  assertEquals(
    (await bench.callTool("search_files", { pattern: "needle" })).text,
    ".hidden\n1: needle",
  );
});

Deno.test("a search stops at its limit and says so; a long line is shown around its match", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a.txt", "x\n".repeat(10));
  bench.writeFile("b.txt", `${"-".repeat(5_000)}needle${"-".repeat(5_000)}`);
  assertStringIncludes(
    (await bench.callTool("search_files", { pattern: "x", max_results: 3 })).text,
    "3: x\n\n[Stopped after 3 lines;",
  );
  const { text } = await bench.callTool("search_files", { pattern: "needle" });
  assertStringIncludes(text, "-needle-");
  assert(text.length < 500);
});

Deno.test("no pattern, a broken pattern and a missing path are errors with words", async () => {
  await using bench = new TestWorkspace();
  const search = async (args: JsonObject) => (await bench.callTool("search_files", args)).text;
  assertEquals(await search({}), "Give a pattern, a glob, or both");
  assertStringIncludes(await search({ pattern: "(" }), "The pattern cannot be read");
  assertStringIncludes(await search({ pattern: "x", path: "nowhere" }), "does not exist");
});

Deno.test("with rg and without it the answers are the same", async () => {
  await using bench = new TestWorkspace();
  const random = seededRandom(9);
  const words = ["foo", "bar", "foo_bar", "x1", " ", "(", "é", "\t", ".", "Foo"];
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? "";
  for (let file = 0; file < 30; file++) {
    const lines = Array.from(
      { length: 8 },
      () => Array.from({ length: 5 }, () => pick(words)).join(""),
    );
    bench.writeFile(`d${file % 4}/f${file}.txt`, lines.join(file % 2 ? "\n" : "\r\n"));
  }
  bench.writeFile("d1/.gitignore", "f1.txt\nf5*\n");
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
  const plain = codingTools({ sandbox: withoutPrograms(createSandbox({ cwd: bench.directory })) })
    .find(({ name }) => name === "search_files");
  for (const pattern of patterns) {
    for (const path of [".", "d1"]) {
      const args = { pattern, path, ignore_case: random() < 0.3, context: 1 };
      const context = {
        toolCallId: "",
        idempotencyKey: "",
        onUpdate: () => {},
        signal: new AbortController().signal,
      };
      const answer = await plain?.execute(args, context);
      const withoutRg = typeof answer === "object" ? extractText(answer.content) : "";
      assertEquals(
        (await bench.callTool("search_files", args)).text,
        withoutRg,
        JSON.stringify(args),
      );
    }
  }
});

/** The same sandbox on a machine where no program is installed. */
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
