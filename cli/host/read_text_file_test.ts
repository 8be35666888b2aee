import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { isPipe, readPipe, readTextFile } from "./read_text_file.ts";

Deno.test("readTextFile(): reads a file of any length, with characters across chunks", async () => {
  const text = "äöü€😀".repeat(30_000);
  await using directory = await createTemporaryDirectory({ "a.txt": text, "empty": "" });
  assertEquals(readTextFile(`${directory.path}/a.txt`), text);
  assertEquals(readTextFile(`${directory.path}/empty`), "");
});

Deno.test("readTextFile(): rejects what is too large, endless, not text or not there", async () => {
  await using directory = await createTemporaryDirectory({
    "a.txt": "12345",
    "latin1": new Uint8Array([0x63, 0xe9]),
    "cut": new Uint8Array([0x63, 0xc3]),
  });
  const read = (name: string, maxBytes?: number) => () =>
    readTextFile(name.startsWith("/") ? name : `${directory.path}/${name}`, maxBytes);
  assertThrows(read("a.txt", 4), Error, "the file is larger than 0.000004 MB");
  assertEquals(read("a.txt", 5)(), "12345");
  assertThrows(read("/dev/zero", 100_000), Error, "the file is larger than 0.1 MB");
  for (const name of ["latin1", "cut"]) {
    assertThrows(read(name), Error, "the file is not text in UTF-8");
  }
  assertThrows(read("none"), Deno.errors.NotFound);
});

Deno.test("readPipe(): reads a pipe to its end, and a signal ends the wait for its writer and for its content", async () => {
  await using directory = await createTemporaryDirectory();
  const path = `${directory.path}/pipe`;
  await new Deno.Command("mkfifo", { args: [path] }).output();
  assertEquals([isPipe(path), isPipe(directory.path), isPipe(`${path}.none`)], [
    true,
    false,
    false,
  ]);
  const write = async (text: string) => {
    using file = await Deno.open(path, { write: true });
    await file.write(new TextEncoder().encode(text));
  };
  const { signal } = new AbortController();
  assertEquals(await Promise.all([readPipe(path, signal), write("äö")]), ["äö", undefined]);
  const writing = write("1234");
  const message = "the file is larger than 0.000003 MB";
  await assertRejects(() => readPipe(path, signal, 3), Error, message);
  await writing;
  const other = `${directory.path}/other`;
  await new Deno.Command("mkfifo", { args: [other] }).output();
  const stop = new AbortController();
  const unopened = readPipe(other, stop.signal);
  stop.abort();
  assertEquals(await unopened, undefined);
  // Ends the operation of the system, too: the opened pipe is closed.
  using writer = await Deno.open(other, { write: true });
  await assertRejects(async () => {
    for (;;) await writer.write(new Uint8Array(1));
  }, Deno.errors.BrokenPipe);
});
