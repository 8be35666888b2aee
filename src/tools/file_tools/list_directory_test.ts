import { assertEquals, assertStringIncludes } from "@std/assert";
import { Workbench } from "../../../tests/sandbox/workbench.ts";

Deno.test("a folder is a tree; what git ignores and .git itself are left out", async () => {
  await using bench = new Workbench();
  bench.put(".gitignore", "*.log\n/dist/\n");
  bench.put(".git/HEAD", "");
  bench.put("dist/a.js", "");
  bench.put("src/a.ts", "");
  bench.put("src/a.log", "");
  bench.put("src/deep/er/b.ts", "");
  Deno.symlinkSync("src", `${bench.folder}/link`);
  assertEquals(
    (await bench.call("list_directory", {})).text,
    ".gitignore\nlink@\nsrc/\n  a.ts\n  deep/ …",
  );
  assertEquals(
    (await bench.call("list_directory", { path: "src", depth: 3 })).text,
    "a.ts\ndeep/\n  er/\n    b.ts",
  );
  assertEquals((await bench.call("list_directory", { path: "dist" })).text, "a.js");
});

Deno.test("rules from above the working directory hold within a repository", async () => {
  await using bench = new Workbench();
  bench.put(".gitignore", "node_modules\n");
  bench.put(".git/info/exclude", "/packages/a/secret\n");
  bench.put("packages/a/node_modules/x.js", "");
  bench.put("packages/a/secret", "");
  bench.put("packages/a/b.ts", "");
  await using inner = new Workbench({ cwd: `${bench.folder}/packages/a` });
  assertEquals((await inner.call("list_directory", {})).text, "b.ts");
});

Deno.test("an empty folder, a file and nothing at all", async () => {
  await using bench = new Workbench();
  assertEquals((await bench.call("list_directory", {})).text, "[The folder is empty]");
  bench.put("file.txt", "");
  const list = async (path: string) => (await bench.call("list_directory", { path })).text;
  assertStringIncludes(await list("file.txt"), "is not a folder: read it with read_file");
  assertStringIncludes(await list("fil.txt"), 'did you mean "file.txt"?');
});

Deno.test("names with newlines and escapes are quoted", async () => {
  await using bench = new Workbench();
  bench.put("a\nb\u001b[31m", "");
  assertEquals((await bench.call("list_directory", {})).text, '"a\\nb\\u001b[31m"');
});

Deno.test("a folder with very many names says how many are missing", async () => {
  await using bench = new Workbench();
  for (let index = 0; index < 1_005; index++) bench.put(`f${index}`, "");
  assertStringIncludes((await bench.call("list_directory", {})).text, "\n[5 more entries;");
});
