import { assertEquals } from "@std/assert";
import ts from "typescript";
import { EXIT_CODES } from "../cli/host/exit_code.ts";
import { root } from "./project.ts";

const page = await Deno.readTextFile(new URL("docs/troubleshooting.md", root));
const errors = ts.createSourceFile(
  "errors.ts",
  await Deno.readTextFile(new URL("src/core/errors/errors.ts", root)),
  ts.ScriptTarget.Latest,
  true,
);

/** Returns the members of a union of texts. */
function listTexts(name: string): string[] {
  const alias = errors.statements.filter(ts.isTypeAliasDeclaration).find((node) =>
    node.name.text === name
  );
  return alias?.type.getText().match(/(?<=")[a-z_]+(?=")/g) ?? [];
}

Deno.test("docs/troubleshooting.md: has a section for each error code", () => {
  const sections = Array.from(page.matchAll(/^### `(\w+)`$/gm), ([, code = ""]) => code);
  assertEquals(sections.toSorted(), listTexts("AgentErrorCode").toSorted());
});

Deno.test("docs/troubleshooting.md: has a row for each reason of a session error", () => {
  const [, section = ""] = page.split("### `session_error`");
  const rows = Array.from(
    section.split("\n## ")[0]?.matchAll(/^\| `(\w+)` /gm) ?? [],
    (row) => row[1] ?? "",
  );
  assertEquals(
    rows.filter((row) => row !== "reason").toSorted(),
    listTexts("SessionErrorReason").toSorted(),
  );
});

Deno.test("docs/troubleshooting.md: has all exit codes", () => {
  const [, section = ""] = page.split("## Exit codes of the program");
  const rows = Array.from(section.matchAll(/^\| ([\d, ]+?) +\|/gm), ([, codes = ""]) => codes);
  const codes = rows.flatMap((row) => row.split(", ").map(Number));
  assertEquals(
    codes.toSorted((left, right) => left - right),
    EXIT_CODES.map(([code]) => Number(code)).toSorted((left, right) => left - right),
  );
});
