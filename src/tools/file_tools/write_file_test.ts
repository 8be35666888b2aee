import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";

const callContext = { signal: new AbortController().signal };

Deno.test("A 97: a new file is written with its folders, and the change is told", async () => {
  await using bench = new TestWorkspace();
  const { text, result } = await bench.callTool("write_file", {
    path: "a/b/c.txt",
    content: "x\n",
  });
  assertEquals(bench.readFile("a/b/c.txt"), "x\n");
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

Deno.test("A 97: the preview has the text before and after, and writes nothing", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a.txt", "old\n");
  const preview = bench.getTool("write_file").preview;
  const changes = await preview?.({ path: "a.txt", content: "new\n" }, callContext);
  assertEquals(changes?.map(({ before, after }) => [before, after]), [["old\n", "new\n"]]);
  const fresh = await preview?.({ path: "b.txt", content: "new\n" }, callContext);
  assertEquals(fresh?.[0]?.before, null);
  assertEquals(bench.readFile("a.txt"), "old\n");
});

Deno.test("the mode of a file that was there is kept", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("run.sh", "old");
  Deno.chmodSync(`${bench.directory}/run.sh`, 0o750);
  await bench.callTool("write_file", { path: "run.sh", content: "new" });
  assertEquals((Deno.statSync(`${bench.directory}/run.sh`).mode ?? 0) & 0o777, 0o750);
});

Deno.test("a link inside the root stays a link; what it leads to is written", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("real.txt", "old");
  Deno.symlinkSync("real.txt", `${bench.directory}/link.txt`);
  await bench.callTool("write_file", { path: "link.txt", content: "new" });
  assertEquals(bench.readFile("real.txt"), "new");
  assert(Deno.lstatSync(`${bench.directory}/link.txt`).isSymlink);
});

Deno.test("no temporary file stays behind", async () => {
  await using bench = new TestWorkspace();
  await bench.callTool("write_file", { path: "a.txt", content: "x" });
  await bench.callTool("write_file", { path: "a.txt/b.txt", content: "x" });
  assertEquals([...Deno.readDirSync(bench.directory)].map(({ name }) => name), ["a.txt"]);
});

Deno.test("a file that changed since it was read is not written over, once", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a.txt", "one");
  await bench.callTool("read_file", { path: "a.txt" });
  bench.writeFile("a.txt", "two");
  const refused = await bench.callTool("write_file", { path: "a.txt", content: "three" });
  assert(refused.isError);
  assertStringIncludes(refused.text, "changed by something else since it was last read");
  assertEquals(bench.readFile("a.txt"), "two");
});

Deno.test("A 97: outside of the root there is neither a preview nor a file", async () => {
  await using bench = new TestWorkspace();
  const args = { path: "../evil.txt", content: "x" };
  const preview = bench.getTool("write_file").preview?.(args, callContext);
  const [settled] = await Promise.allSettled([preview]);
  assertEquals(settled.status, "rejected");
  const { isError, text } = await bench.callTool("write_file", args);
  assert(isError);
  assertStringIncludes(text, "outside");
  assertEquals([...Deno.readDirSync(bench.outside)].map(({ name }) => name), ["project"]);
});

Deno.test("a file that changed after its change was approved is left alone", async () => {
  await using bench = new TestWorkspace();
  bench.writeFile("a.txt", "old");
  const args = { path: "a.txt", content: "new" };
  await bench.getTool("write_file").preview?.(structuredClone(args), callContext);
  bench.writeFile("a.txt", "by hand");
  const refused = await bench.callTool("write_file", args);
  assert(refused.isError);
  assertStringIncludes(refused.text, "after the change was approved");
  assertEquals(bench.readFile("a.txt"), "by hand");
  assertEquals((await bench.callTool("write_file", args)).isError, false);
});
