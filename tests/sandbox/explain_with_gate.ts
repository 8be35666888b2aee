/**
 * Decisions of approval gates, for tests.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/core/json/json.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { type ApprovalGate, approvalGate } from "../../src/tools/approval/approval_gate.ts";
import type { CallExplanation } from "../../src/tools/approval/call_explanation.ts";

/** Returns the decision of a gate about a call of a tool that accepts any arguments. */
export async function explainWithGate(
  gate: ApprovalGate,
  name: string,
  args: JsonObject,
): Promise<CallExplanation["decision"]> {
  const tool = defineTool({
    name,
    description: "",
    parameters: { type: "object" },
    execute: () => "",
  });
  return (await gate.explain({ name, arguments: args, tool })).decision;
}

/** Returns the decision of a gate with deny rules, which approves all other calls. */
export async function decideWithDenyRules(
  deny: readonly string[],
  name: string,
  args: JsonObject,
): Promise<CallExplanation["decision"]> {
  return await explainWithGate(approvalGate({ mode: "bypassed", deny }), name, args);
}

/** Registers a test for each command, which a gate with deny rules must refuse. */
export function testForbiddenCommands(
  commands: readonly string[],
  deny: readonly string[] = ["bash(rm *)"],
): void {
  for (const command of commands) {
    Deno.test(`approvalGate(): deny rules forbid ${JSON.stringify(command)}`, async () => {
      assertEquals((await decideWithDenyRules(deny, "bash", { command })).type, "denied");
    });
  }
}

/** Asserts that a gate with a deny rule for `rm` approves each command. */
export async function assertNotForbidden(commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    const { type } = await decideWithDenyRules(["bash(rm *)"], "bash", { command });
    assertEquals(type, "approved", command);
  }
}
