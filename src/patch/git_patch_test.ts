import { assertEquals, assertStringIncludes } from "@std/assert";
import { formatGitPatch } from "./git_patch.ts";
import type { GitMode, PathState } from "./path_change.ts";

function createState(text: string, mode: GitMode = "100644"): PathState {
  return { mode, content: new TextEncoder().encode(text) };
}

async function getPatch(path: string, before: PathState | null, after: PathState | null) {
  return new TextDecoder().decode(await formatGitPatch({ path, before, after }));
}

// The hashes are those of `git hash-object`.
Deno.test("formatGitPatch() formats a changed line as git does", async () => {
  assertEquals(
    await getPatch("a.txt", createState("a\nb\n"), createState("a\nc\n")),
    `diff --git a/a.txt b/a.txt
index 422c2b7ab3b3c668038da977e4e93a5fc623169c..0f7bc766052a5a0ee28a393d51d2370f96d8ceb8 100644
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 a
-b
+c
`,
  );
});

Deno.test("formatGitPatch() formats contents that are not UTF-8 as binary for a patch that is a text", async () => {
  const create = (...bytes: number[]): PathState => ({
    mode: "100644",
    content: new Uint8Array(bytes),
  });
  const change = { path: "a", before: create(0xe9, 10), after: create(0xe8, 10) };
  const asBytes = await formatGitPatch(change);
  assertEquals(asBytes.includes(0xe8), true);
  const asText = await formatGitPatch(change, { asText: true });
  const text = new TextDecoder("utf-8", { fatal: true }).decode(asText);
  assertStringIncludes(text, "\nGIT binary patch\nliteral 2\n");
  const plain = { path: "a", before: createState("é\n"), after: createState("è\n") };
  assertEquals(await formatGitPatch(plain, { asText: true }), await formatGitPatch(plain));
});

Deno.test("formatGitPatch() formats added and removed files", async () => {
  const zero = "0".repeat(40);
  const hash = "422c2b7ab3b3c668038da977e4e93a5fc623169c";
  assertEquals(
    await getPatch("a", null, createState("a\nb\n", "100755")),
    `diff --git a/a b/a\nnew file mode 100755\nindex ${zero}..${hash}\n--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+a\n+b\n`,
  );
  assertEquals(
    await getPatch("a", createState("a\nb\n"), null),
    `diff --git a/a b/a\ndeleted file mode 100644\nindex ${hash}..${zero}\n--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n`,
  );
});

Deno.test("formatGitPatch() formats a mode change without content, and returns nothing without a change", async () => {
  assertEquals(
    await getPatch("a", createState("a\n"), createState("a\n", "100755")),
    "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n",
  );
  assertEquals(await getPatch("a", createState("a\n"), createState("a\n")), "");
});

Deno.test("formatGitPatch() quotes names as git does and appends a tab to names with spaces", async () => {
  const header = async (path: string) =>
    (await getPatch(path, createState("a\n"), createState("b\n"))).split("\n");
  assertEquals((await header("a b")).filter((line) => !line.startsWith("index")).slice(0, 3), [
    "diff --git a/a b b/a b",
    "--- a/a b\t",
    "+++ b/a b\t",
  ]);
  assertEquals(
    (await header('"ü\t'))[0],
    'diff --git "a/\\"\\303\\274\\011" "b/\\"\\303\\274\\011"',
  );
});
