import { assertEquals } from "@std/assert";
import { createRuledCall, parseApprovalRule } from "./approval_rules.ts";

Deno.test("bash(…): a call whose command is no text is not allowed, and may be one that is denied", () => {
  const rule = parseApprovalRule("bash(git *)");
  for (const args of [{}, { command: ["git", "log"] }, { script: "git log" }]) {
    const call = createRuledCall("bash", args);
    assertEquals([rule.covers(call), rule.concerns(call)], [false, "possible"]);
  }
});
