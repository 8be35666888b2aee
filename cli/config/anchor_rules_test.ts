import { assertEquals } from "@std/assert";
import { parseApprovalRule } from "../../src/tools/approval/rules/approval_rules.ts";
import { anchorRules } from "./anchor_rules.ts";

Deno.test("anchorRules(): adds the path in the project to rules with a relative path", () => {
  const cases: readonly (readonly [string, ...string[]])[] = [
    ["Read(secret/**)", "Read(/p/secret/**)"],
    ["edit_file( ./src/{a,b}/* )", "edit_file(/p/src/{a,b}/*)"],
    ["LS(secret/)", "LS(/p/secret/)"],
    ["Read(.env)", "Read(/p/**/.env)"],
    ["Read()"],
    ["Read(/etc/**)"],
    ["Read(~/a/b)"],
    ["Read"],
    ["bash(cat a/b)"],
    ["fetch_url(a.test/b)"],
    ["mcp__a__b"],
  ];
  for (const [rule, ...added] of cases) assertEquals(anchorRules([rule], "/p"), [rule, ...added]);
});

Deno.test("anchorRules(): a root with characters of patterns is that root", () => {
  const [, rule = ""] = anchorRules(["read_file(a/**)"], "/w/[x] {y}!*");
  const concern = (path: string) =>
    parseApprovalRule(rule).concerns({
      name: "read_file",
      arguments: { path },
      path: {
        named: path,
        canonical: [path],
        isUncertain: false,
        isDirectory: false,
        excluded: new Set(),
        workingDirectory: undefined,
      },
    });
  assertEquals([concern("/w/[x] {y}!*/a/b"), concern("/w/x {y}!*/a/b")], ["certain", "none"]);
});
