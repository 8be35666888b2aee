/**
 * The tool calls that need an approval.
 *
 * @module
 */

import type { JsonObject } from "../json/json.ts";
import type { AgentTool } from "./tool.ts";

/** Whether a call requires approval in the approval mode `smart`. */
export function needsApproval(tool: AgentTool, args: JsonObject): boolean {
  const { requiresApproval = !tool.readOnly } = tool;
  return typeof requiresApproval === "function" ? requiresApproval(args) : requiresApproval;
}
