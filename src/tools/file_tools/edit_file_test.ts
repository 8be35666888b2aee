import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { hashContent } from "../text/content_hash.ts";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";

const replace = (old_string: string, new_string: string) => ({ old_string, new_string });

Deno.test("A 98: a single match is replaced, and the change is told", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a.txt", "one\ntwo\n");
  const { text, result } = await bench.callTool("edit_file", {
    path: "a.txt",
    edits: [replace("two", "2")],
  });
  assertEquals(bench.readFile("a.txt"), "one\n2\n");
  assertEquals(text, "Edited a.txt (+1 -1)");
  const { change } = result.details as { change: { diff: string } };
  assertStringIncludes(change.diff, "-two\n+2\n");
});

Deno.test("A 98: several edits apply in order, all or none", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a.txt", "a b c");
  await bench.callTool("edit_file", {
    path: "a.txt",
    edits: [replace("a", "x"), replace("x b", "y")],
  });
  assertEquals(bench.readFile("a.txt"), "y c");
  const { isError, text } = await bench.callTool("edit_file", {
    path: "a.txt",
    edits: [replace("y", "z"), replace("missing", "q")],
  });
  assert(isError);
  assertStringIncludes(text, "Edit 2 of 2: ");
  assertStringIncludes(text, "None of the edits was made");
  assertEquals(bench.readFile("a.txt"), "y c");
});

Deno.test("A 98: several matches without a hint are an error; all, or the nearest, can be chosen", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a.txt", "x\n\n\n\nx\n");
  const edit = async (more: object) =>
    await bench.callTool("edit_file", {
      path: "a.txt",
      edits: [{ ...replace("x", "y"), ...more }],
    });
  const refused = await edit({});
  assert(refused.isError);
  assertStringIncludes(refused.text, "there 2 times");
  await edit({ line_hint: 6 });
  assertEquals(bench.readFile("a.txt"), "x\n\n\n\ny\n");
  bench.writeFile("a.txt", "x\n\n\n\nx\n");
  await bench.callTool("read_file", { path: "a.txt" });
  await edit({ replace_all: true });
  assertEquals(bench.readFile("a.txt"), "y\n\n\n\ny\n");
});

Deno.test("A 98: two edits at once to different places both survive", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a.txt", "one\ntwo\n");
  await bench.callTool("read_file", { path: "a.txt" });
  const answers = await Promise.all([
    bench.callTool("edit_file", { path: "a.txt", edits: [replace("one", "1")] }),
    bench.callTool("edit_file", { path: "a.txt", edits: [replace("two", "2")] }),
  ]);
  assertEquals(answers.map(({ isError }) => isError), [false, false]);
  assertEquals(bench.readFile("a.txt"), "1\n2\n");
});

Deno.test("A 98: a stale hash is refused; of two edits with one hash the later is", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a.txt", "one two");
  const expected_hash = await hashContent("one two");
  const answers = await Promise.all(
    ["one", "two"].map((word) =>
      bench.callTool("edit_file", { path: "a.txt", edits: [replace(word, "x")], expected_hash })
    ),
  );
  assertEquals(answers.filter(({ isError }) => isError).length, 1);
  assert(["x two", "one x"].includes(bench.readFile("a.txt")));
});

Deno.test("A 98: a file that changed since it was read is not edited", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a.txt", "one");
  await bench.callTool("read_file", { path: "a.txt" });
  bench.writeFile("a.txt", "one two");
  const { isError, text } = await bench.callTool("edit_file", {
    path: "a.txt",
    edits: [replace("one", "1")],
  });
  assert(isError);
  assertStringIncludes(text, "read it again");
  assertEquals(bench.readFile("a.txt"), "one two");
});

Deno.test("a missing file, a binary file and broken UTF-8 are refused with words", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a.bin", new Uint8Array([1, 0, 2]));
  bench.writeFile("latin1.txt", new Uint8Array([0x63, 0x61, 0x66, 0xe9]));
  const edit = async (path: string) =>
    (await bench.callTool("edit_file", { path, edits: [replace("a", "b")] })).text;
  assertStringIncludes(await edit("b.txt"), '"b.txt" does not exist');
  assertStringIncludes(await edit("a.bin"), "is a binary file, not UTF-8 text");
  assertStringIncludes(await edit("latin1.txt"), "is not valid UTF-8");
});

Deno.test("the preview shows the change and a failing edit as its error", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a.txt", "one\n");
  const context = { signal: new AbortController().signal };
  const preview = bench.getTool("edit_file").preview;
  const changes = await preview?.({ path: "a.txt", edits: [replace("one", "1")] }, context);
  assertEquals(changes?.[0]?.after, "1\n");
  const failing = preview?.({ path: "a.txt", edits: [replace("two", "1")] }, context);
  const [settled] = await Promise.allSettled([failing]);
  assertEquals(settled.status, "rejected");
  assertEquals(bench.readFile("a.txt"), "one\n");
});

Deno.test("two edits of one file that were approved together are both made", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a.txt", "one\ntwo\n");
  const context = { signal: new AbortController().signal };
  const calls = ["one", "two"].map((word) => ({
    path: "a.txt",
    edits: [replace(word, word.toUpperCase())],
  }));
  for (const args of calls) await bench.getTool("edit_file").preview?.(args, context);
  for (const args of calls) assertEquals((await bench.callTool("edit_file", args)).isError, false);
  assertEquals(bench.readFile("a.txt"), "ONE\nTWO\n");
});
