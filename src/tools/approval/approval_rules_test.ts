import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../core/json.ts";
import { createRuledCall, parseApprovalRule } from "./approval_rules.ts";

Deno.test("bash(…): a call whose command is no text is not allowed, and may be one that is denied", async () => {
  const rule = parseApprovalRule("bash(git *)");
  for (const args of [{}, { command: ["git", "log"] }, { script: "git log" }]) {
    const call = await createRuledCall({ name: "bash", arguments: args as JsonObject });
    assertEquals([rule.covers(call), rule.concerns(call)], [false, "possible"]);
  }
});
