import { assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";

Deno.test("a folder is a tree; what git ignores and .git itself are left out", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile(".gitignore", "*.log\n/dist/\n");
  bench.writeFile(".git/HEAD", "");
  bench.writeFile("dist/a.js", "");
  bench.writeFile("src/a.ts", "");
  bench.writeFile("src/a.log", "");
  bench.writeFile("src/deep/er/b.ts", "");
  Deno.symlinkSync("src", `${bench.directory}/link`);
  assertEquals(
    (await bench.callTool("list_directory", {})).text,
    ".gitignore\nlink@\nsrc/\n  a.ts\n  deep/ …",
  );
  assertEquals(
    (await bench.callTool("list_directory", { path: "src", depth: 3 })).text,
    "a.ts\ndeep/\n  er/\n    b.ts",
  );
  assertEquals((await bench.callTool("list_directory", { path: "dist" })).text, "a.js");
});

Deno.test("rules from above the working directory hold within a repository", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile(".gitignore", "node_modules\n");
  bench.writeFile(".git/info/exclude", "/packages/a/secret\n");
  bench.writeFile("packages/a/node_modules/x.js", "");
  bench.writeFile("packages/a/secret", "");
  bench.writeFile("packages/a/b.ts", "");
  await using inner = new TestWorkspace({ cwd: `${bench.directory}/packages/a` });
  assertEquals((await inner.callTool("list_directory", {})).text, "b.ts");
});

Deno.test("an empty folder, a file and nothing at all", async () => {
  await using bench = new TestWorkspace();
  assertEquals((await bench.callTool("list_directory", {})).text, "[The folder is empty]");
  bench.writeFile("file.txt", "");
  const list = async (path: string) => (await bench.callTool("list_directory", { path })).text;
  assertStringIncludes(await list("file.txt"), "is not a folder: read it with read_file");
  assertStringIncludes(await list("fil.txt"), 'did you mean "file.txt"?');
});

Deno.test("names with newlines and escapes are quoted", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a\nb\u001b[31m", "");
  assertEquals((await bench.callTool("list_directory", {})).text, '"a\\nb\\u001b[31m"');
});

Deno.test("a folder with very many names says how many are missing", async () => {
  await using bench = new TestWorkspace();
  for (let index = 0; index < 1_005; index++) bench.writeFile(`f${index}`, "");
  assertStringIncludes((await bench.callTool("list_directory", {})).text, "\n[5 more entries;");
});
