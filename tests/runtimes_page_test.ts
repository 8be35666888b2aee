import { assert, assertEquals } from "@std/assert";
import { sourceFiles } from "./architecture/imports.ts";
import { root } from "./project.ts";

Deno.test("docs/runtimes.md: the tests that it names exist", async () => {
  const page = await Deno.readTextFile(new URL("docs/runtimes.md", root));
  const [, section = ""] = page.split("\n## Tests\n");
  const titles = Array.from(
    section.replaceAll(/\s+/g, " ").matchAll(/"([^"]+: [^"]+)"/g),
    ([, title = ""]) => title,
  );
  assert(titles.length > 15, titles.join("\n"));
  const sources: string[] = [];
  for await (const path of sourceFiles("tests")) {
    if (path === "tests/runtimes_page_test.ts") continue;
    sources.push(await Deno.readTextFile(new URL(path, root)));
  }
  // The dots replace a part that differs or is left out.
  const isKnown = (title: string) =>
    sources.some((source) =>
      title.split("…").every((part) => source.includes(part.replace(/^[, ]+|[, ]+$/g, "")))
    );
  assertEquals(titles.filter((title) => !isKnown(title)), []);
});
