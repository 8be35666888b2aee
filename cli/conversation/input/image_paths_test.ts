import { assertEquals, assertLess } from "@std/assert";
import { join } from "../../../src/platform/paths.ts";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { findImagePaths } from "./image_paths.ts";

const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

Deno.test("findImagePaths(): quoted paths, paths with escaped blanks and URLs of files that are images", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_" });
  try {
    const path = (name: string) => join(directory, name);
    for (const name of ["a.png", "b c.png", "d e.png"]) await Deno.writeFile(path(name), PNG);
    await Deno.writeTextFile(path("text.png"), "no image");
    const text = `Compare ${path("a.png")} "${path("b c.png")}" ${path("d\\ e.png")}, ` +
      `file://${path("b%20c.png")} ${path("text.png")} and ${path("missing.png")}`;
    assertEquals(findImagePaths(text), [path("a.png"), path("b c.png"), path("d e.png")]);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("findImagePaths(): a text with many backslashes or beginnings of paths is searched quickly", () => {
  const getThreadTime = startThreadTimer();
  for (const part of [" /\\", "\\d", " /a", ' "/a']) {
    assertEquals(findImagePaths(` /${part.repeat(20_000)}`), []);
  }
  assertLess(getThreadTime(), 5_000);
});
