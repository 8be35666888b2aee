import { main } from "../../cli/main.ts";
import { EXIT_CODES } from "../../cli/host/exit_code.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { root } from "../project.ts";
import { updateTables } from "./command_tables.ts";
import { createFakeHost } from "./fake_host.ts";

const [readme, manual] = await Promise.all(
  ["README.md", "docs/cli.md"].map((name) => Deno.readTextFile(new URL(name, root))),
);

Deno.test("docs/cli.md: contains the tables of the commands", () => {
  assert(manual);
  assertEquals(manual, updateTables(manual));
});

Deno.test("README.md: lists every option of run, and no other", async () => {
  const host = createFakeHost();
  await main(["run", "--help"], host);
  const flags = host.output.matchAll(/^ {2}(?:-\w, | {4})(--[\w-]+)/gm);
  const known = Array.from(flags, ([, flag]) => flag).filter((flag) => flag !== "--help");
  const [, section = ""] = readme?.split("## At the command line") ?? [];
  const documented = section.matchAll(/^\| .*?`(--[\w-]+)/gm);
  assertEquals(Array.from(documented, ([, flag]) => flag).slice(0, known.length), known);
});

Deno.test("README.md: lists the exit codes with the meanings of the help", () => {
  const rows = readme?.matchAll(/^\| (\d+) +\| (.*?) +\|$/gm) ?? [];
  const documented = Array.from(
    rows,
    ([, code, meaning]) => [Number(code), meaning?.replaceAll("`", "")],
  );
  assertEquals(documented, EXIT_CODES.map(([code, meaning]) => [code, meaning]));
});

Deno.test("docs/cli.md: describes formats and variables", () => {
  assert(manual);
  for (
    const word of ["stream-json", "SWINK_MODEL", "NO_COLOR", "FORCE_COLOR", "ANTHROPIC_API_KEY"]
  ) {
    assertStringIncludes(manual, word);
  }
});
