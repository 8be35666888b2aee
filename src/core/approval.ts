/**
 * Asking before acting.
 *
 * @module
 */

import type { FileChange } from "./diff/file_change.ts";
import type { JsonObject } from "./json.ts";
import type { AgentTool } from "./tool.ts";

/**
 * Which calls are asked about: all of them, those whose tool wants it, or none.
 */
export type ApprovalMode = "enabled" | "smart" | "bypassed";

/** A call that waits for an answer. */
export interface ApprovalRequest {
  /** Id of the call. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments that will run, valid and past every policy. */
  readonly arguments: JsonObject;
  /** The tool. */
  readonly tool: AgentTool;
  /** The file changes that the call would make, where the tool can tell. */
  readonly changes?: readonly FileChange[];
  /** Fires when the run is aborted; the answer is then not waited for. */
  readonly signal: AbortSignal;
}

/** The answer: yes, also for later calls where `scope` says so, and with other arguments if given; or no. */
export type ApprovalDecision =
  | {
    readonly type: "approved";
    /** This call, every call of the tool in this session, or every call that begins with `prefix`. Default: `"once"`. */
    readonly scope?: "once" | "tool" | "prefix";
    /** The command or path prefix that is trusted from now on. */
    readonly prefix?: string;
    /** Arguments to run instead; they are validated and policed again. */
    readonly arguments?: JsonObject;
  }
  | {
    readonly type: "denied";
    /** Why, for the model. */
    readonly reason?: string;
  };

/** Answers whether a call may run. One that throws denies. `true` and `false` are short for yes and no. */
export type Approve = (
  request: ApprovalRequest,
) => ApprovalDecision | boolean | Promise<ApprovalDecision | boolean>;
