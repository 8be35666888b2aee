import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { hashContent } from "../text/content_hash.ts";

const replace = (old_string: string, new_string: string) => ({ old_string, new_string });

Deno.test("edit_file: replaces a single match and returns the change [A98]", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "one\ntwo\n");
  const { text, result } = await workspace.callTool("edit_file", {
    path: "a.txt",
    edits: [replace("two", "2")],
  });
  assertEquals(workspace.readFile("a.txt"), "one\n2\n");
  assertEquals(text, "Edited a.txt (+1 -1)");
  const { change } = result.details as { change: { diff: string } };
  assertStringIncludes(change.diff, "-two\n+2\n");
});

Deno.test("edit_file: applies several edits in order, all or none [A98]", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "a b c");
  await workspace.callTool("edit_file", {
    path: "a.txt",
    edits: [replace("a", "x"), replace("x b", "y")],
  });
  assertEquals(workspace.readFile("a.txt"), "y c");
  const { isError, text } = await workspace.callTool("edit_file", {
    path: "a.txt",
    edits: [replace("y", "z"), replace("missing", "q")],
  });
  assert(isError);
  assertStringIncludes(text, "Edit 2 of 2: ");
  assertStringIncludes(text, "None of the edits was applied");
  assertEquals(workspace.readFile("a.txt"), "y c");
});

Deno.test("edit_file: rejects an ambiguous passage unless replace_all or line_hint is set [A98]", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "x\n\n\n\nx\n");
  const edit = async (options: object) =>
    await workspace.callTool("edit_file", {
      path: "a.txt",
      edits: [{ ...replace("x", "y"), ...options }],
    });
  const refused = await edit({});
  assert(refused.isError);
  assertStringIncludes(refused.text, "occurs 2 times");
  await edit({ line_hint: 6 });
  assertEquals(workspace.readFile("a.txt"), "x\n\n\n\ny\n");
  workspace.writeFile("a.txt", "x\n\n\n\nx\n");
  await workspace.callTool("read_file", { path: "a.txt" });
  await edit({ replace_all: true });
  assertEquals(workspace.readFile("a.txt"), "y\n\n\n\ny\n");
});

Deno.test("edit_file: applies both of two concurrent edits [A98]", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "one\ntwo\n");
  await workspace.callTool("read_file", { path: "a.txt" });
  const outputs = await Promise.all([
    workspace.callTool("edit_file", { path: "a.txt", edits: [replace("one", "1")] }),
    workspace.callTool("edit_file", { path: "a.txt", edits: [replace("two", "2")] }),
  ]);
  assertEquals(outputs.map(({ isError }) => isError), [false, false]);
  assertEquals(workspace.readFile("a.txt"), "1\n2\n");
});

Deno.test("edit_file: rejects the later of two edits with the same expected_hash [A98]", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "one two");
  const expected_hash = await hashContent("one two");
  const outputs = await Promise.all(
    ["one", "two"].map((word) =>
      workspace.callTool("edit_file", { path: "a.txt", edits: [replace(word, "x")], expected_hash })
    ),
  );
  assertEquals(outputs.filter(({ isError }) => isError).length, 1);
  assert(["x two", "one x"].includes(workspace.readFile("a.txt")));
});

Deno.test("edit_file: rejects an edit of a file that changed since it was read [A98]", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "one");
  await workspace.callTool("read_file", { path: "a.txt" });
  workspace.writeFile("a.txt", "one two");
  const { isError, text } = await workspace.callTool("edit_file", {
    path: "a.txt",
    edits: [replace("one", "1")],
  });
  assert(isError);
  assertStringIncludes(text, "changed since it was last read");
  assertEquals(workspace.readFile("a.txt"), "one two");
});

Deno.test("edit_file: rejects a missing file, a binary file and invalid UTF-8 with a reason", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.bin", new Uint8Array([1, 0, 2]));
  workspace.writeFile("latin1.txt", new Uint8Array([0x63, 0x61, 0x66, 0xe9]));
  const edit = async (path: string) =>
    (await workspace.callTool("edit_file", { path, edits: [replace("a", "b")] })).text;
  assertStringIncludes(await edit("b.txt"), '"b.txt" does not exist');
  assertStringIncludes(await edit("a.bin"), "is a binary file, not text");
  assertStringIncludes(await edit("latin1.txt"), "is not valid UTF-8");
});

Deno.test("edit_file: preview() returns the change and rejects when the edit would fail", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "one\n");
  const context = { signal: new AbortController().signal };
  const preview = workspace.getTool("edit_file").preview;
  const changes = await preview?.({ path: "a.txt", edits: [replace("one", "1")] }, context);
  assertEquals(changes?.[0]?.after, "1\n");
  const failing = preview?.({ path: "a.txt", edits: [replace("two", "1")] }, context);
  const [settled] = await Promise.allSettled([failing]);
  assertEquals(settled.status, "rejected");
  assertEquals(workspace.readFile("a.txt"), "one\n");
});

Deno.test("edit_file: applies two edits of a file that were previewed together", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "one\ntwo\n");
  const context = { signal: new AbortController().signal };
  const calls = ["one", "two"].map((word) => ({
    path: "a.txt",
    edits: [replace(word, word.toUpperCase())],
  }));
  for (const args of calls) await workspace.getTool("edit_file").preview?.(args, context);
  for (const args of calls) {
    assertEquals((await workspace.callTool("edit_file", args)).isError, false);
  }
  assertEquals(workspace.readFile("a.txt"), "ONE\nTWO\n");
});

Deno.test("edit_file: keeps UTF-16 with its byte order mark", async () => {
  await using workspace = new TestWorkspace();
  const toBytes = (text: string) => [...text].flatMap((character) => [0, character.charCodeAt(0)]);
  workspace.writeFile("a.txt", new Uint8Array([0xfe, 0xff, ...toBytes("one\r\ntwo\r\n")]));
  const edits = [replace("one\ntwo", "1\ntwo")];
  assertEquals((await workspace.callTool("edit_file", { path: "a.txt", edits })).isError, false);
  assertEquals(
    [...Deno.readFileSync(`${workspace.directory}/a.txt`)],
    [0xfe, 0xff, ...toBytes("1\r\ntwo\r\n")],
  );
});
