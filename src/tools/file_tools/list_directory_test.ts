import { assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";

Deno.test("list_directory: returns a tree without .git and ignored files", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile(".gitignore", "*.log\n/dist/\n");
  workspace.writeFile(".git/HEAD", "");
  workspace.writeFile("dist/a.js", "");
  workspace.writeFile("src/a.ts", "");
  workspace.writeFile("src/a.log", "");
  workspace.writeFile("src/deep/er/b.ts", "");
  Deno.symlinkSync("src", `${workspace.directory}/link`);
  assertEquals(
    (await workspace.callTool("list_directory", {})).text,
    ".gitignore\nlink@\nsrc/\n  a.ts\n  deep/ …",
  );
  assertEquals(
    (await workspace.callTool("list_directory", { path: "src", depth: 3 })).text,
    "a.ts\ndeep/\n  er/\n    b.ts",
  );
  assertEquals((await workspace.callTool("list_directory", { path: "dist" })).text, "a.js");
});

Deno.test("list_directory: applies ignore rules from parent directories in the repository", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile(".gitignore", "node_modules\n");
  workspace.writeFile(".git/info/exclude", "/packages/a/secret\n");
  workspace.writeFile("packages/a/node_modules/x.js", "");
  workspace.writeFile("packages/a/secret", "");
  workspace.writeFile("packages/a/b.ts", "");
  await using inner = new TestWorkspace({ cwd: `${workspace.directory}/packages/a` });
  assertEquals((await inner.callTool("list_directory", {})).text, "b.ts");
});

Deno.test("list_directory: reports an empty directory, and rejects a file and a missing path", async () => {
  await using workspace = new TestWorkspace();
  assertEquals((await workspace.callTool("list_directory", {})).text, "[The directory is empty]");
  workspace.writeFile("file.txt", "");
  const list = async (path: string) => (await workspace.callTool("list_directory", { path })).text;
  assertStringIncludes(await list("file.txt"), "is not a directory: read it with read_file");
  assertStringIncludes(await list("fil.txt"), 'did you mean "file.txt"?');
});

Deno.test("list_directory: quotes names with control characters", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a\nb\u001b[31m", "");
  assertEquals((await workspace.callTool("list_directory", {})).text, '"a\\nb\\u001b[31m"');
});

Deno.test("list_directory: reports how many entries it omits", async () => {
  await using workspace = new TestWorkspace();
  for (let index = 0; index < 1_005; index++) workspace.writeFile(`f${index}`, "");
  assertStringIncludes((await workspace.callTool("list_directory", {})).text, "\n[5 more entries;");
});
