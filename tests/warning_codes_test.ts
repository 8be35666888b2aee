import { assert, assertEquals } from "@std/assert";
import { sourceFiles } from "./architecture/imports.ts";
import { root } from "./project.ts";

/** Matches the emission of a warning: a call of a writer or sink, or an event. */
const WARNING = /(?:\bwarning\(|type: "warning",\s*code: )\s*"([a-z_]+)"/g;

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

Deno.test("documentation: docs/troubleshooting.md explains every code of a warning", async () => {
  const page = await Deno.readTextFile(new URL("docs/troubleshooting.md", root));
  const [, section = ""] = page.split("\n## Warnings\n");
  const [table = ""] = section.split("\n## ");
  const codes = await listWarningCodes();
  assert(codes.size > 20, `only ${codes.size} codes were found`);
  const missing = [...codes].filter((code) =>
    !code.endsWith("_left_out") && !table.includes(`\`${code}\``)
  );
  assertEquals(missing.toSorted(), []);
});
