import { assertEquals } from "@std/assert";
import { fakeTool } from "../../testing/fake_tool.ts";
import { needsApproval } from "./needs_approval.ts";

Deno.test("needsApproval() is true for tools that are not read-only, unless requiresApproval is set", () => {
  const needsApprovalFor = (tool: Parameters<typeof fakeTool>[0], args = {}): boolean =>
    needsApproval(fakeTool(tool), args);
  assertEquals(needsApprovalFor({ name: "write" }), true);
  assertEquals(needsApprovalFor({ name: "read", readOnly: true }), false);
  assertEquals(needsApprovalFor({ name: "read", readOnly: true, requiresApproval: true }), true);
  assertEquals(needsApprovalFor({ name: "write", requiresApproval: false }), false);
  const bash = {
    name: "bash",
    requiresApproval: ({ command }: { command?: unknown }) => command !== "ls",
  };
  assertEquals(needsApprovalFor(bash, { command: "ls" }), false);
  assertEquals(needsApprovalFor(bash, { command: "rm" }), true);
});
