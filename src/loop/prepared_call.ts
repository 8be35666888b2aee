/**
 * A tool call between two stages: ready to run, or refused.
 *
 * @module
 */

import type { ToolCallBlock } from "../core/content.ts";
import type { JsonObject } from "../core/json.ts";
import type { AgentTool } from "../core/tool.ts";

/** A call that may run. */
export interface ReadyCall {
  readonly type: "ready";
  /** The call as the model made it. */
  readonly block: ToolCallBlock;
  /** The tool. */
  readonly tool: AgentTool;
  /** The arguments to run, as JSON. */
  readonly arguments: JsonObject;
  /** Argument of the tool's `execute`: the output of its `validate`, or the arguments themselves. */
  readonly input: unknown;
  /** Whether the arguments differ from the model's own. */
  readonly changed: boolean;
}

/** A call that will not run. */
export interface RefusedCall {
  readonly type: "refused";
  /** The call as the model made it. */
  readonly block: ToolCallBlock;
  /** The reason, for the model. */
  readonly text: string;
}

/** A call between two stages. */
export type PreparedCall = ReadyCall | RefusedCall;

/** Result text of a call that was cancelled by the abort of its run. */
export const ABORTED_TEXT = "tool call cancelled: run aborted";

/** Creates a refused call; `text` is the reason for the model. */
export function refuseCall(block: ToolCallBlock, text: string): RefusedCall {
  return { type: "refused", block, text };
}
