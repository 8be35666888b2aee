/**
 * The hook that approves tool calls.
 *
 * @module
 */

import type { ApprovalDecision } from "../approval/approval.ts";
import type { FileChange } from "../diff/file_change.ts";
import type { JsonObject } from "../json/json.ts";
import type { AgentTool } from "../tools/tool.ts";

/**
 * A tool call that needs an approval.
 *
 * @typeParam Context The type of the run's `context`.
 */
export interface ApprovalRequest<Context = unknown> {
  /** Id of the call. */
  readonly toolCallId: string;
  /**
   * Ids of the tool calls that lead to the agent whose call this is, the outermost first, as in `sub_agent` events.
   * Default: the call is one of the agent itself.
   */
  readonly path?: readonly string[] | undefined;
  /** Name of the tool. */
  readonly name: string;
  /** A copy of the arguments to run, after validation and the `preDispatch` policies. */
  readonly arguments: JsonObject;
  /** The tool. */
  readonly tool: AgentTool;
  /** The file changes that the call would make, if the tool has a `preview` and it succeeded. */
  readonly changes?: readonly FileChange[] | undefined;
  /** The `context` of the run's options. */
  readonly context: Context;
  /** Aborted when the run is aborted; the decision is then no longer awaited. */
  readonly signal: AbortSignal;
}

/**
 * Decides whether a tool call may run. `true` is short for `{ type: "approved" }`, `false` for `{ type: "denied" }`; a
 * function that throws or rejects denies the call. `{ type: "pending" }` ends the run: no call of the batch runs until
 * `Agent.continue({ approvals })` has the decision.
 *
 * @typeParam Context The type of the run's `context`, which must be that of the tools of the agent.
 *
 * @example
 * ```ts
 * import type { Approve } from "@swink/agent";
 *
 * const approve: Approve = ({ name, arguments: { euros } }) => {
 *   if (name !== "refund") return true;
 *   if (typeof euros === "number" && euros < 50) return { type: "approved", rule: "below 50 euros" };
 *   return { type: "pending" };
 * };
 * ```
 */
export type Approve<Context = unknown> = (
  request: ApprovalRequest<Context>,
) => ApprovalAnswer | Promise<ApprovalAnswer>;

/** A tool call whose decision is explained. */
export interface ExplainedCall {
  /**
   * Ids of the tool calls that lead to the agent, as in {@linkcode ApprovalRequest}. Default: the call is one of the
   * agent itself.
   */
  readonly path?: readonly string[] | undefined;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments. */
  readonly arguments: JsonObject;
  /** The tool. */
  readonly tool: AgentTool;
}

/**
 * An {@linkcode Approve} that can also state its decision on a call without asking a person; `approvalGate()` creates
 * one. Agents that a tool runs may make the calls that it approves alone; with another `Approve`, only those that need no
 * approval.
 */
export interface ExplainingApprove extends Approve {
  /**
   * Returns the decision on a call, or that a person would be asked, with the reason. With the `rule` that asks, it is also
   * submitted if it needs no approval in the mode `smart` of an agent.
   */
  explain(call: ExplainedCall): Promise<{
    readonly decision: ApprovalDecision | {
      readonly type: "asked";
      readonly reason: string;
      readonly rule?: string | undefined;
    };
  }>;
  /**
   * Called with each call that was approved in another way, before it runs: by a person after the run, with the decision;
   * by the mode of the agent; or for an agent that a tool runs. Default: not called.
   */
  onApproved?(call: ExplainedCall, decision?: ApprovalDecision): void;
}

/** Answer of {@linkcode Approve}; pending if the decision is not known yet. */
export type ApprovalAnswer = ApprovalDecision | { readonly type: "pending" } | boolean;
