/**
 * A tool call between two stages: ready to run, or refused.
 *
 * @module
 */

import type { ApprovalDecision, RefusedHunks } from "../../core/approval/approval.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { ToolCallBlock } from "../../core/messages/content.ts";
import type { AgentToolResult } from "../../core/messages/tool_result.ts";
import type { AgentTool } from "../../core/tools/tool.ts";

/** A call that may run. */
export interface ReadyCall {
  readonly type: "ready";
  /** The call as the model made it. */
  readonly block: ToolCallBlock;
  /** The tool. */
  readonly tool: AgentTool;
  /** The arguments after policies and approval, as in events. */
  readonly arguments: JsonObject;
  /** The arguments to run: as the tool's own validator returned them. */
  readonly input: unknown;
  /** Whether `arguments` differ from the model's own. */
  readonly changed: boolean;
  /** The hunks that its approval refused; `arguments` leave them out. */
  readonly refusedHunks?: readonly RefusedHunks[];
  /** The decision of a person or of an earlier run, so that none is requested. */
  readonly decision?: ApprovalDecision;
  /** The idempotency key of an earlier attempt. Default: that of the run. */
  readonly idempotencyKey?: string;
}

/** A call that will not run. */
export interface RefusedCall {
  readonly type: "refused";
  /** The call as the model made it. */
  readonly block: ToolCallBlock;
  /** The reason, for the model. */
  readonly text: string;
  /** The result that it has already. Default: an error result with `text`. */
  readonly result?: AgentToolResult;
}

/** A call between two stages. */
export type PreparedCall = ReadyCall | RefusedCall;

/** Creates a refused call; `text` is the reason for the model. */
export function refuseCall(block: ToolCallBlock, text: string): RefusedCall {
  return { type: "refused", block, text };
}
