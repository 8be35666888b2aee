import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { speedUpTimers } from "../../../tests/fast_timers.ts";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { withoutPrograms } from "../../../tests/sandbox/without_programs.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { extractText } from "../../core/messages/content.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { testToolContext } from "../../testing/test_tool_context.ts";
import { codingTools } from "../coding_tools.ts";
import { createSandbox } from "../sandbox/local_sandbox.ts";

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

for (const name of [".ignore", ".rgignore"]) {
  Deno.test(`search_files: applies .gitignore and not ${name}, with rg and without it`, async () => {
    await using workspace = new TestWorkspace();
    workspace.writeFile(".gitignore", "g.txt\n");
    workspace.writeFile(name, "other.txt\n");
    for (const file of ["g.txt", "other.txt"]) workspace.writeFile(file, "needle\n");
    for (const sandbox of [workspace.sandbox, withoutPrograms(workspace.sandbox)]) {
      const search = codingTools({ sandbox }).find((tool) => tool.name === "search_files");
      const result = await search?.execute({ pattern: "needle" }, testToolContext());
      const content = typeof result === "object" ? result.content : [];
      assertEquals(extractText(content), "other.txt\n1: needle");
    }
  });
}

Deno.test("search_files: finds the files of a glob after many matches in others, with rg and without it", async () => {
  await using workspace = new TestWorkspace();
  const content = `${"needle ".repeat(40)}\n`.repeat(300);
  for (let index = 0; index < 60; index++) workspace.writeFile(`a/${index}.log`, content);
  workspace.writeFile("z.ts", "needle\n");
  for (const sandbox of [workspace.sandbox, withoutPrograms(workspace.sandbox)]) {
    const search = codingTools({ sandbox }).find((tool) => tool.name === "search_files");
    for (const selection of [{ glob: "*.ts" }, { exclude_paths: ["a/**"] }]) {
      const result = await search?.execute({ pattern: "needle", ...selection }, testToolContext());
      const content = typeof result === "object" ? result.content : [];
      assertEquals(extractText(content), "z.ts\n1: needle");
    }
  }
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
    ".hidden\n1: needle\n\n[binary, matches not shown: binary]",
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
  for (const [index, pattern] of patterns.entries()) {
    const path = index % 3 === 0 ? "d1" : ".";
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
});

/** Calls `search_files` without `rg`, and with it where it is installed; the results must be equal. */
async function searchBoth(workspace: TestWorkspace, args: JsonObject): Promise<string> {
  const sandbox = withoutPrograms(workspace.sandbox);
  const tool = codingTools({ sandbox }).find(({ name }) => name === "search_files");
  const output = await tool?.execute(args, testToolContext());
  const text = typeof output === "object" ? extractText(output.content) : "";
  assertEquals((await workspace.callTool("search_files", args)).text, text);
  return text;
}

Deno.test("search_files: finds each line of a pattern with several repetitions, in lines of any length", async () => {
  await using workspace = new TestWorkspace();
  const lines = Array.from(
    { length: 200 },
    (_, index) => `import { name${index} } from "../some/long/path/module_${index}.ts";`,
  );
  workspace.writeFile("a.ts", lines.join("\n"));
  workspace.writeFile("long.txt", `${"-".repeat(20_000)}needle 1 needle\n`);
  const pattern = "import\\s+.*\\s+from\\s+.*";
  assertEquals(await searchBoth(workspace, { pattern, output: "count" }), "a.ts: 200");
  assertStringIncludes(await searchBoth(workspace, { pattern: "needle \\d" }), "needle 1 needle");
});

Deno.test("search_files: reports binary and unreadable files, and searches UTF-16", async () => {
  await using workspace = new TestWorkspace();
  const utf16 = new Uint8Array([
    0xff,
    0xfe,
    ...[..."needle\n"].flatMap((c) => [c.charCodeAt(0), 0]),
  ]);
  workspace.writeFile("utf16.txt", utf16);
  workspace.writeFile("a.bin", new Uint8Array([0, ...new TextEncoder().encode("needle")]));
  assertEquals(
    await searchBoth(workspace, { pattern: "needle" }),
    "utf16.txt\n1: needle\n\n[binary, matches not shown: a.bin]",
  );
  assertEquals(
    await searchBoth(workspace, { pattern: "needle", output: "files" }),
    "utf16.txt\n\n[binary, matches not shown: a.bin]",
  );
});

async function searchWithoutPrograms(workspace: TestWorkspace, pattern: string): Promise<string> {
  const sandbox = withoutPrograms(workspace.sandbox);
  const tool = codingTools({ sandbox }).find(({ name }) => name === "search_files");
  const output = await tool?.execute({ pattern }, testToolContext());
  return typeof output === "object" ? extractText(output.content) : "";
}

Deno.test("search_files: reports files that are too large", async () => {
  await using workspace = new TestWorkspace();
  using file = Deno.openSync(`${workspace.directory}/large.txt`, { write: true, create: true });
  file.truncateSync(60_000_000);
  assertEquals(
    await searchWithoutPrograms(workspace, "needle"),
    "No matches\n\n[too large, not searched or not shown: large.txt]",
  );
});

Deno.test("search_files: reports files on which a pattern takes too long", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("slow.txt", `${"a".repeat(60)}!\n`);
  // A file has 3 s.
  using _timers = speedUpTimers(10);
  assertEquals(
    await searchWithoutPrograms(workspace, "^(a+)+$"),
    "No matches\n\n[not searched, because the pattern takes too long: slow.txt]",
  );
});

Deno.test("search_files: an empty match is not within a character outside of the basic plane", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "😀\na😀b😀\n😀");
  const all = "a.txt\n1: 😀\n2: a😀b😀\n3: 😀";
  const search = (pattern: string) => searchBoth(workspace, { pattern, multiline: true });
  for (const pattern of ["^", "x*", "\\b|x*", "^(?!x)"]) assertEquals(await search(pattern), all);
  assertEquals(await search("$"), all);
  for (const multiline of [false, true]) {
    const args = { pattern: "^(?!a|😀)", multiline };
    assertEquals(await searchBoth(workspace, args), "No matches");
  }
});

Deno.test("search_files: inline flags, matches that span lines, counts and names of files", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "One\none\ntwo\n");
  workspace.writeFile("b.txt", "ONE two\n");
  const search = (args: JsonObject) => searchBoth(workspace, args);
  assertEquals(await search({ pattern: "(?i)one" }), "a.txt\n1: One\n2: one\n\nb.txt\n1: ONE two");
  assertEquals(
    await search({ pattern: "one\\ntwo", multiline: true }),
    "a.txt\n2: one\n3: two",
  );
  assertStringIncludes(await search({ pattern: "one\\ntwo" }), "set multiline");
  assertEquals(await search({ pattern: "two", output: "files" }), "a.txt\nb.txt");
  assertEquals(
    await search({ pattern: "(?i)one", output: "count" }),
    "a.txt: 2\nb.txt: 1\nTotal: 3",
  );
  assertStringIncludes(
    await search({ pattern: "o", output: "files", max_results: 1 }),
    "a.txt\n[Stopped after 1 files;",
  );
  assertEquals(await search({ pattern: "(?<=t)wo" }), "a.txt\n3: two\n\nb.txt\n1: ONE two");
  assertEquals(await search({ pattern: "one {" }), "No matches");
});
