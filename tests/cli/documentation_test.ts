import { main } from "../../cli/main.ts";
import { EXIT_CODES } from "../../cli/host/exit_code.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { root } from "../project.ts";
import { createFakeHost } from "./fake_host.ts";

const [readme, manual] = await Promise.all(
  ["README.md", "docs/cli.md"].map((name) => Deno.readTextFile(new URL(name, root))),
);

Deno.test("README.md lists every option of run, and no other", async () => {
  const host = createFakeHost();
  await main(["run", "--help"], host);
  const flags = host.output.matchAll(/^ {2}(?:-\w, | {4})(--[\w-]+)/gm);
  const known = Array.from(flags, ([, flag]) => flag).filter((flag) => flag !== "--help");
  const [, section = ""] = readme?.split("## At the command line") ?? [];
  const told = section.matchAll(/^\| .*?`(--[\w-]+)/gm);
  assertEquals(Array.from(told, ([, flag]) => flag).slice(0, known.length), known);
});

for (const [name, text] of [["README.md", readme], ["docs/cli.md", manual]] as const) {
  Deno.test(`${name} tells what every exit code means, in the words of the help`, () => {
    assert(text);
    const rows = text.matchAll(/^\| (\d+) +\| (.*?) +\|$/gm);
    const told = Array.from(
      rows,
      ([, code, meaning]) => [Number(code), meaning?.replaceAll("`", "")],
    );
    assertEquals(told, EXIT_CODES.map(([code, meaning]) => [code, meaning]));
  });
}

Deno.test("docs/cli.md tells of every output format and variable", () => {
  assert(manual);
  for (
    const word of ["stream-json", "SWINK_MODEL", "NO_COLOR", "FORCE_COLOR", "ANTHROPIC_API_KEY"]
  ) {
    assertStringIncludes(manual, word);
  }
});
