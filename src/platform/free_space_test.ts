import { assert, assertEquals } from "@std/assert";
import { readFreeSpace } from "./free_space.ts";

Deno.test("readFreeSpace(): returns the free bytes of a disk", async () => {
  const directory = await Deno.makeTempDir();
  const free = readFreeSpace(directory);
  assert(Number.isSafeInteger(free) && free !== 0, String(free));
  await Deno.remove(directory);
});

Deno.test("readFreeSpace(): is not known for a missing directory, and for a file system without a size", () => {
  assertEquals(readFreeSpace("/missing/directory"), undefined);
  if (Deno.build.os === "linux") assertEquals(readFreeSpace("/proc"), undefined);
});

Deno.test({
  name: "readFreeSpace(): does not ask for a permission",
  permissions: { read: true, sys: false },
}, () => assertEquals(readFreeSpace("/"), undefined));
