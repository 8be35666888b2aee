import { assert, assertEquals } from "@std/assert";
import { sourceFiles } from "./architecture/imports.ts";
import { root } from "./project.ts";

/** Matches the emission of a warning: a call of a writer, sink or pipe, or an event. */
const WARNING = /(?:\bwarn(?:ing)?\(|type: "warning",\s*code: )\s*"([a-z_]+)"/g;

async function listWarningCodes(): Promise<Set<string>> {
  const codes = new Set<string>();
  for (const directory of ["adapters", "src"]) {
    for await (const path of sourceFiles(directory)) {
      if (path.endsWith("_test.ts")) continue;
      const text = await Deno.readTextFile(new URL(path, root));
      for (const [, code = ""] of text.matchAll(WARNING)) codes.add(code);
    }
  }
  return codes;
}

/** Returns the table of warnings. */
async function readTable(): Promise<string> {
  const page = await Deno.readTextFile(new URL("docs/troubleshooting.md", root));
  const [, section = ""] = page.split("\n## Warnings\n");
  return section.split("\n## ")[0] ?? "";
}

Deno.test("documentation: docs/troubleshooting.md explains every code of a warning", async () => {
  const table = await readTable();
  const codes = await listWarningCodes();
  assert(codes.size > 20, `only ${codes.size} codes were found`);
  const missing = [...codes].filter((code) =>
    !code.endsWith("_left_out") && !table.includes(`\`${code}\``)
  );
  assertEquals(missing.toSorted(), []);
});

Deno.test("documentation: docs/troubleshooting.md names no code that is not in the source", async () => {
  const cells = (await readTable()).matchAll(/^\|([^|]+)\|/gm);
  const codes = Array.from(cells, ([, cell = ""]) => cell.match(/(?<=`)[a-z_]+(?=`)/g) ?? [])
    .flat().filter((code) => code !== "code");
  assert(codes.length > 20, `only ${codes.length} codes were found`);
  const texts: string[] = [];
  for (const directory of ["adapters", "src"]) {
    for await (const path of sourceFiles(directory)) {
      if (!path.endsWith("_test.ts")) texts.push(await Deno.readTextFile(new URL(path, root)));
    }
  }
  assertEquals(codes.filter((code) => !texts.some((text) => text.includes(`"${code}"`))), []);
});
