/**
 * Files of models whose names on the hub are similar.
 */

import { assertEquals } from "@std/assert";
import { createDownload } from "./download_fixture.ts";

Deno.test("ModelStore.find(): files of the hub with similar names have different paths", async () => {
  await using download = await createDownload();
  const names = [
    "a/b/c--d.gguf",
    "a/b--c/d.gguf",
    "a/b/c/d.gguf",
    "a/b/c-/d.gguf",
    "a/b/c---d.gguf",
    "a/b/c.gguf@d",
    "a/b/c@d.gguf",
  ];
  const places = await Promise.allSettled(names.map((name) => download.store.find(`hf:${name}`)));
  const paths = places.flatMap((place) => place.status === "fulfilled" ? [place.value.path] : []);
  assertEquals([paths.length, new Set(paths).size], [6, 6]);
});
