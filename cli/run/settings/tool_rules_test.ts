import { assertEquals, assertThrows } from "@std/assert";
import { fakeTool } from "../../../src/testing/mod.ts";
import { UsageError } from "../../host/cli_error.ts";
import { resolveToolRules, splitRules } from "./tool_rules.ts";

Deno.test("splitRules(): splits at commas and blanks, but not within a pattern", () => {
  assertEquals(splitRules("read_file,bash(git log *, x) Edit"), [
    "read_file",
    "bash(git log *, x)",
    "Edit",
  ]);
  assertEquals(splitRules(" , "), []);
});

Deno.test("splitRules(): a pattern may contain pairs of parentheses", () => {
  assertEquals(splitRules('bash(node -e "f()" *) read_file'), [
    'bash(node -e "f()" *)',
    "read_file",
  ]);
});

Deno.test("splitRules(): rejects parentheses that do not match", () => {
  for (const rule of ["bash(", "bash)", "bash(a", "bash(a))", "bash (a)", "(a)", "bash(f( *)"]) {
    assertThrows(() => splitRules(rule), UsageError, "its parentheses do not match");
  }
});

Deno.test("resolveToolRules(): a name of another agent denies all that it does there, and allows no more", () => {
  const tools = ["read_file", "write_file", "edit_file", "search_files", "list_directory", "bash"]
    .map((name) => fakeTool({ name }));
  const rules = resolveToolRules(
    { allowedTools: ["Edit(src/**)", "Bash(git log *)"], disallowedTools: ["Read(secrets/**)"] },
    tools,
  );
  assertEquals(rules.allow, ["edit_file(src/**)", "bash(git log *)"]);
  assertEquals(rules.deny, [
    "read_file(secrets/**)",
    "search_files(secrets/**)",
    "list_directory(secrets/**)",
    "edit_file(secrets/**)",
  ]);
  const read = resolveToolRules({ allowedTools: [], disallowedTools: ["Read"] }, tools);
  assertEquals(read.tools.map(({ name }) => name), ["write_file", "edit_file", "bash"]);
  const edit = resolveToolRules({ allowedTools: [], disallowedTools: ["Edit"] }, tools);
  assertEquals(edit.tools.map(({ name }) => name), [
    "read_file",
    "search_files",
    "list_directory",
    "bash",
  ]);
});
