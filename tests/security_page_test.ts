import { assert, assertEquals } from "@std/assert";
import { root } from "./project.ts";

const page = await Deno.readTextFile(new URL("docs/security.md", root));

/** Returns the texts of the test files in a directory. */
async function* readTests(directory: URL): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    if (isDirectory) yield* readTests(new URL(`${name}/`, directory));
    else if (name.endsWith("_test.ts")) yield await Deno.readTextFile(new URL(name, directory));
  }
}

Deno.test("docs/security.md: the tests that the comparison names exist", async () => {
  const sources: string[] = [];
  for (const directory of ["src/tools/", "tests/sandbox/"]) {
    sources.push(...await Array.fromAsync(readTests(new URL(directory, root))));
  }
  const rows = page.split("\n").filter((line) => /^\| `/.test(line) && line.includes("_"));
  const titles = rows.flatMap((row) =>
    Array.from((row.split("|").at(-2) ?? "").matchAll(/"([^"]+)"/g), ([, title = ""]) => title)
  );
  assert(titles.length > 20, String(titles.length));
  // The dots replace a part that differs or is left out.
  const isKnown = (title: string) =>
    sources.some((source) =>
      title.split("…").every((part) => source.includes(part.replace(/^[, ]+|[, ]+$/g, "")))
    );
  assertEquals(titles.filter((title) => !isKnown(title)), []);
});
