import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";

const callContext = { signal: new AbortController().signal };

Deno.test("write_file: creates missing directories and returns the change [A97]", async () => {
  await using workspace = new TestWorkspace();
  const { text, result } = await workspace.callTool("write_file", {
    path: "a/b/c.txt",
    content: "x\n",
  });
  assertEquals(workspace.readFile("a/b/c.txt"), "x\n");
  assertEquals(text, "Created a/b/c.txt (1 line)");
  assertEquals(result.details, {
    change: {
      path: "a/b/c.txt",
      before: null,
      after: "x\n",
      diff: "--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1 @@\n+x\n",
    },
  });
});

Deno.test("write_file: preview() returns the text before and after without writing [A97]", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "old\n");
  const preview = workspace.getTool("write_file").preview;
  const changes = await preview?.({ path: "a.txt", content: "new\n" }, callContext);
  assertEquals(changes?.map(({ before, after }) => [before, after]), [["old\n", "new\n"]]);
  const fresh = await preview?.({ path: "b.txt", content: "new\n" }, callContext);
  assertEquals(fresh?.[0]?.before, null);
  assertEquals(workspace.readFile("a.txt"), "old\n");
});

Deno.test("write_file: keeps the mode of an existing file", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("run.sh", "old");
  Deno.chmodSync(`${workspace.directory}/run.sh`, 0o750);
  await workspace.callTool("write_file", { path: "run.sh", content: "new" });
  assertEquals((Deno.statSync(`${workspace.directory}/run.sh`).mode ?? 0) & 0o777, 0o750);
});

Deno.test("write_file: writes the target of a link inside the root", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("real.txt", "old");
  Deno.symlinkSync("real.txt", `${workspace.directory}/link.txt`);
  await workspace.callTool("write_file", { path: "link.txt", content: "new" });
  assertEquals(workspace.readFile("real.txt"), "new");
  assert(Deno.lstatSync(`${workspace.directory}/link.txt`).isSymlink);
});

Deno.test("write_file: leaves no temporary file", async () => {
  await using workspace = new TestWorkspace();
  await workspace.callTool("write_file", { path: "a.txt", content: "x" });
  await workspace.callTool("write_file", { path: "a.txt/b.txt", content: "x" });
  assertEquals([...Deno.readDirSync(workspace.directory)].map(({ name }) => name), ["a.txt"]);
});

Deno.test("write_file: does not overwrite a file that changed since it was read", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "one");
  await workspace.callTool("read_file", { path: "a.txt" });
  workspace.writeFile("a.txt", "two");
  const refused = await workspace.callTool("write_file", { path: "a.txt", content: "three" });
  assert(refused.isError);
  assertStringIncludes(refused.text, "changed since it was last read");
  assertEquals(workspace.readFile("a.txt"), "two");
});

Deno.test("write_file: rejects a path outside of the root, in preview() too [A97]", async () => {
  await using workspace = new TestWorkspace();
  const args = { path: "../evil.txt", content: "x" };
  const preview = workspace.getTool("write_file").preview?.(args, callContext);
  const [settled] = await Promise.allSettled([preview]);
  assertEquals(settled.status, "rejected");
  const { isError, text } = await workspace.callTool("write_file", args);
  assert(isError);
  assertStringIncludes(text, "outside");
  assertEquals([...Deno.readDirSync(workspace.outside)].map(({ name }) => name), ["project"]);
});

Deno.test("write_file: does not overwrite a file that changed after the preview, but accepts a second call", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "old");
  const args = { path: "a.txt", content: "new" };
  await workspace.getTool("write_file").preview?.(structuredClone(args), callContext);
  workspace.writeFile("a.txt", "by hand");
  const refused = await workspace.callTool("write_file", args);
  assert(refused.isError);
  assertStringIncludes(refused.text, "changed after this change was approved");
  assertEquals(workspace.readFile("a.txt"), "by hand");
  assertEquals((await workspace.callTool("write_file", args)).isError, false);
});

Deno.test("write_file: keeps the byte order mark, the encoding and the line endings of an existing file", async () => {
  await using workspace = new TestWorkspace();
  const write = (path: string, content: string) =>
    workspace.callTool("write_file", { path, content });
  workspace.writeFile("crlf.txt", "\ufeffone\r\ntwo\r\n");
  await write("crlf.txt", "one\nthree\n");
  assertEquals(Deno.readFileSync(`${workspace.directory}/crlf.txt`).subarray(0, 3)[0], 0xef);
  assertEquals(workspace.readFile("crlf.txt").replace("\ufeff", ""), "one\r\nthree\r\n");
  workspace.writeFile("mixed.txt", "a\r\nb\nc\r\n");
  await write("mixed.txt", "a\nb\nB\nc\n");
  assertEquals(workspace.readFile("mixed.txt"), "a\r\nb\nB\nc\r\n");
  workspace.writeFile("utf16.txt", new Uint8Array([0xff, 0xfe, 0x61, 0, 0x0a, 0]));
  await write("utf16.txt", "b\n");
  assertEquals(
    [...Deno.readFileSync(`${workspace.directory}/utf16.txt`)],
    [0xff, 0xfe, 0x62, 0, 0x0a, 0],
  );
  workspace.writeFile("lf.txt", "a\n");
  await write("lf.txt", "a\r\nb\r\n");
  assertEquals(workspace.readFile("lf.txt"), "a\r\nb\r\n");
});

Deno.test("write_file: warns when it replaces a file that was neither read nor previewed", async () => {
  await using workspace = new TestWorkspace();
  const warning = "[The file existed and had not been read: 2 lines replaced]";
  workspace.writeFile("a.txt", "one\ntwo\n");
  const { text } = await workspace.callTool("write_file", { path: "a.txt", content: "x\n" });
  assertStringIncludes(text, warning);
  const again = await workspace.callTool("write_file", { path: "a.txt", content: "y\n" });
  assertEquals(again.text, "Wrote a.txt (1 line; +1 -1)");
  workspace.writeFile("read.txt", "one\ntwo\n");
  await workspace.callTool("read_file", { path: "read.txt" });
  const args = { path: "read.txt", content: "x\n" };
  assertEquals((await workspace.callTool("write_file", args)).text.includes("had not"), false);
  workspace.writeFile("seen.txt", "one\ntwo\n");
  const previewed = { path: "seen.txt", content: "x\n" };
  await workspace.getTool("write_file").preview?.(previewed, callContext);
  assertEquals((await workspace.callTool("write_file", previewed)).text.includes("had not"), false);
});
