/**
 * Approval of tool calls.
 *
 * @module
 */

import type { FileChange } from "./diff/file_change.ts";
import type { JsonObject } from "./json.ts";
import type { AgentTool } from "./tool.ts";

/**
 * Which tool calls need an approval. `enabled`: all of them. `smart`: those whose tool requires it
 * (`AgentTool.requiresApproval`). `bypassed`: none.
 */
export type ApprovalMode = "enabled" | "smart" | "bypassed";

/** A tool call that needs an approval. */
export interface ApprovalRequest {
  /** Id of the call. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly name: string;
  /** A copy of the arguments to run, after validation and the `preDispatch` policies. */
  readonly arguments: JsonObject;
  /** The tool. */
  readonly tool: AgentTool;
  /** The file changes that the call would make, if the tool has a `preview` and it succeeded. */
  readonly changes?: readonly FileChange[];
  /** Aborted when the run is aborted; the decision is then no longer awaited. */
  readonly signal: AbortSignal;
}

/** The decision on a tool call: approved, with a scope and optionally edited arguments, or denied. */
export type ApprovalDecision =
  | {
    readonly type: "approved";
    /**
     * `once`: this call. `tool`: every call of the tool in this session. `prefix`: every call of this session whose
     * command or path begins with `prefix`. Default: `"once"`.
     */
    readonly scope?: "once" | "tool" | "prefix";
    /** The approved command or path prefix, if `scope` is `prefix`. */
    readonly prefix?: string;
    /** Arguments to run instead; they are validated and passed to the `preDispatch` policies again. */
    readonly arguments?: JsonObject;
  }
  | {
    readonly type: "denied";
    /** The reason given to the model. */
    readonly reason?: string;
  };

/**
 * Decides whether a tool call may run. `true` is short for `{ type: "approved" }`, `false` for `{ type: "denied" }`; a
 * function that throws or rejects denies the call.
 */
export type Approve = (
  request: ApprovalRequest,
) => ApprovalDecision | boolean | Promise<ApprovalDecision | boolean>;
