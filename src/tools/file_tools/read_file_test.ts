import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { decodeBase64 } from "../../core/text/byte_encoding.ts";

Deno.test("read_file: numbers the lines [A96]", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "one\ntwo\n");
  assertEquals((await workspace.callTool("read_file", { path: "a.txt" })).text, "1\tone\n2\ttwo");
  const { result } = await workspace.callTool("read_file", { path: "a.txt", offset: 2, limit: 1 });
  assertEquals(result.content, [{ type: "text", text: "2\ttwo\n[Lines 2–2 of 2]" }]);
});

Deno.test("read_file: a range reports the next offset, or that it is past the end", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "one\ntwo\nthree");
  const read = async (offset: number, limit: number) =>
    (await workspace.callTool("read_file", { path: "a.txt", offset, limit })).text;
  assertEquals(await read(1, 2), "1\tone\n2\ttwo\n[Lines 1–2 of 3; continue with offset 3]");
  assertEquals(await read(3, 5), "3\tthree\n[Lines 3–3 of 3]");
  assertEquals(await read(4, 5), "[Line 4 does not exist: the file has 3 lines]");
});

Deno.test("read_file: reads empty files, byte order marks, CRLF and UTF-16", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("empty", "");
  workspace.writeFile("mark", "\ufeffone\r\ntwo\r\n");
  workspace.writeFile("wide", new Uint8Array([0xff, 0xfe, 0x61, 0, 0x0a, 0, 0xe9, 0]));
  const read = async (path: string) => (await workspace.callTool("read_file", { path })).text;
  assertEquals(await read("empty"), "[The file is empty]");
  assertEquals(await read("mark"), "1\tone\n2\ttwo");
  assertEquals(await read("wide"), "1\ta\n2\té");
});

Deno.test("read_file: truncates a long file between lines and a long line between characters [A96]", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("long.txt", "😀 word\n".repeat(30_000));
  workspace.writeFile("wide.txt", "😀".repeat(100_000));
  const long = (await workspace.callTool("read_file", { path: "long.txt" })).text;
  assert(long.endsWith("\n[Lines 1–2000 of 30,000; continue with offset 2001]"), long.slice(-80));
  const wide = (await workspace.callTool("read_file", { path: "wide.txt" })).text;
  assert(wide.isWellFormed());
  assertStringIncludes(wide, "[… line of 200,000 characters truncated …]");
  assert(wide.length < 2_100);
});

Deno.test("read_file: reads a very large file in chunks", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("huge.txt", "0123456789\n".repeat(1_000_000));
  const { text } = await workspace.callTool("read_file", {
    path: "huge.txt",
    offset: 900_000,
    limit: 2,
  });
  assertEquals(
    text,
    "900000\t0123456789\n900001\t0123456789\n[Lines 900000–900001; continue with offset 900002]",
  );
});

Deno.test("read_file: returns an image block", async () => {
  await using workspace = new TestWorkspace();
  const data =
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAC0lEQVR4nGNggAIAAAgAAVrdNVgAAAAASUVORK5CYII=";
  const png = decodeBase64(data);
  workspace.writeFile("a.png", png);
  const { result } = await workspace.callTool("read_file", { path: "a.png" });
  assertEquals(result.content[1], {
    type: "image",
    source: { type: "base64", mediaType: "image/png", data },
  });
});

Deno.test("read_file: rejects other binary files and names their format", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.out", new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 0]));
  workspace.writeFile("a.bin", new Uint8Array([1, 2, 0, 3]));
  workspace.writeFile("notes.txt", "BZh is how bzip2 files begin");
  const read = async (path: string) => (await workspace.callTool("read_file", { path })).text;
  assertStringIncludes(await read("a.out"), "an ELF program or library of 6 bytes");
  assertStringIncludes(await read("a.bin"), "a binary file of 4 bytes");
  assertEquals(await read("notes.txt"), "1\tBZh is how bzip2 files begin");
});

Deno.test("read_file: suggests similar names for a missing file [A96]", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("src/parser.ts", "");
  const answer = await workspace.callTool("read_file", { path: "src/parsr.ts" });
  assertEquals(answer.isError, true);
  assertEquals(answer.text, '"src/parsr.ts" does not exist; did you mean "parser.ts"?');
});

Deno.test("read_file: returns an error result when the signal is aborted", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("a.txt", "x");
  const { isError } = await workspace.callTool("read_file", { path: "a.txt" }, AbortSignal.abort());
  assertEquals(isError, true);
});

Deno.test("read_file: rejects a file that only begins like an image", async () => {
  await using workspace = new TestWorkspace();
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 1, 2]);
  workspace.writeFile("a.png", png);
  const { isError, text } = await workspace.callTool("read_file", { path: "a.png" });
  assertEquals(isError, true);
  assertStringIncludes(text, "begins like an image (image/png), but is damaged or incomplete");
});
