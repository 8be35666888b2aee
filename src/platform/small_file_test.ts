import { assertEquals } from "@std/assert";
import { readSmallFile } from "./small_file.ts";

Deno.test("readSmallFile(): reads into the memory of the caller if the file fits, else into new memory", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const path = `${directory}/a`;
    const buffer = new Uint8Array([9, 9, 9, 9]);
    await Deno.writeTextFile(path, "abc");
    const small = readSmallFile(path, { verifyPath: false, buffer });
    assertEquals([small?.buffer === buffer.buffer, small?.length], [true, 3]);
    assertEquals([...buffer], [97, 98, 99, 9]);
    await Deno.writeTextFile(path, "abcde");
    const large = readSmallFile(path, { verifyPath: false, buffer });
    assertEquals([large?.buffer === buffer.buffer, large?.length], [false, 5]);
    await Deno.writeTextFile(path, "");
    assertEquals(readSmallFile(path, { verifyPath: false, buffer })?.length, 0);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
