/**
 * Decisions of approval gates, for tests.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json.ts";
import { defineTool } from "../../src/core/tool.ts";
import { type ApprovalGate, approvalGate } from "../../src/tools/approval/approval_gate.ts";
import type { CallExplanation } from "../../src/tools/approval/explain_call.ts";

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
