import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../host/cli_error.ts";
import { splitRules } from "./tool_rules.ts";

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
