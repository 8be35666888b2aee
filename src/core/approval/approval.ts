/**
 * Decisions on tool calls.
 *
 * @module
 */

import type { JsonObject } from "../json/json.ts";
import type { AgentToolResult } from "../messages/tool_result.ts";

/**
 * Which tool calls need an approval. `always`: all of them; `enabled` is an alias of it. `smart`: those whose tool
 * requires it (`AgentTool.requiresApproval`). `bypassed`: none.
 */
export type ApprovalMode = "always" | "enabled" | "smart" | "bypassed";

/** The decision on a tool call: approved, with a scope and optionally edited arguments, or denied. */
export type ApprovalDecision =
  & {
    /** The rule that decided, as the host writes it. */
    readonly rule?: string | undefined;
    /** Where the rule is written: the path of a file, `options`, or `session` for a grant. */
    readonly ruleSource?: string | undefined;
    /** Who or what decided. */
    readonly origin?: "person" | "rule" | "mode" | "policy" | undefined;
  }
  & ({
    readonly type: "approved";
    /**
     * `once`: this call. `tool`: every call of the tool in this session. `prefix`: every call of this session whose
     * command or path begins with `prefix`. Default: `"once"`.
     */
    readonly scope?: "once" | "tool" | "prefix" | undefined;
    /** The approved command or path prefix, if `scope` is `prefix`. */
    readonly prefix?: string | undefined;
    /**
     * Arguments to run instead. They are validated again and passed to the `preDispatch` policies, which may refuse but
     * no longer change them.
     */
    readonly arguments?: JsonObject | undefined;
    /**
     * Hunks of the file changes that are not made, instead of edited arguments; the model reads which. A tool that
     * cannot leave them out (`AgentTool.omitHunks`) does not run.
     */
    readonly refusedHunks?: readonly RefusedHunks[] | undefined;
  } | {
    readonly type: "denied";
    /** The reason given to the model. */
    readonly reason?: string | undefined;
  });

/** Hunks of the change of a file. */
export interface RefusedHunks {
  /** Path of the file, as in its `FileChange`. */
  readonly path: string;
  /** The hunks, as `listHunks()` returns them. */
  readonly hunks: readonly string[];
}

/** A tool call that waits for the decision of a person. */
export interface PendingApproval {
  /** Id of the call. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments to approve. */
  readonly arguments: JsonObject;
}

/** A tool call of a pending batch that is decided already. */
export interface DecidedCall extends PendingApproval {
  /** The decision; a call that was refused before its approval is denied with `origin: "policy"`. */
  readonly decision: ApprovalDecision;
}

/** A tool call of the last reply that an earlier process started, finished or did not reach. */
export interface InterruptedCall {
  /** Id of the call. */
  readonly toolCallId: string;
  /** Its result unless it runs again: the recorded one, or an error result. */
  readonly result: AgentToolResult;
  /** How the call runs again, if the tool, the policies and the approval of today allow it. Default: it does not. */
  readonly rerun?: {
    /** Key of the earlier attempts. Default: that of the run, for a call that has not started. */
    readonly idempotencyKey?: string | undefined;
    /** Number of earlier attempts. Default: 0. */
    readonly attempts?: number | undefined;
    /** The only arguments with which it may run again. Default: any. */
    readonly arguments?: JsonObject | undefined;
  };
}

/** The tool calls of the last reply, of which at least one waits for a decision or was interrupted. */
export interface PendingBatch {
  /** The calls that wait for a decision. */
  readonly pendingApprovals: readonly PendingApproval[];
  /** The other calls of the reply; a call that is in neither list is refused when the batch runs. */
  readonly decidedCalls?: readonly DecidedCall[] | undefined;
  /** The calls that an earlier process interrupted. Default: none. */
  readonly interruptedCalls?: readonly InterruptedCall[] | undefined;
}

/** Calls approved for the session: all calls of a tool, or those whose command or path begins with a prefix. */
export type TrustGrant =
  | {
    readonly type: "tool";
    readonly name: string;
    /**
     * Whether the grant is only for a tool that changes nothing (`AgentTool.readOnly`), such as `bash` of plan mode, and
     * not for another one of this name. Default: `false`.
     */
    readonly readOnly?: boolean | undefined;
  }
  | { readonly type: "prefix"; readonly name: string; readonly prefix: string };

/** The state of an approval gate, which lasts for the session. */
export interface ApprovalGateState {
  /** Calls that need approval; may be changed at any time. */
  mode: ApprovalMode;
  /** The grants of this session. */
  readonly trusted: readonly TrustGrant[];
  /** Adds a grant. */
  trust(grant: TrustGrant): void;
  /** Removes all grants. */
  clearTrust(): void;
}

/** Decisions on tool calls, by the id of the call. */
export type ApprovalDecisions = Readonly<Record<string, ApprovalDecision | boolean>>;
