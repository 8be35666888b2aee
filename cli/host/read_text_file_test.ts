import { assertEquals, assertThrows } from "@std/assert";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { readTextFile } from "./read_text_file.ts";

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
