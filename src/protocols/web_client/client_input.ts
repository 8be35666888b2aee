/**
 * The input of a run of a client.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import type { JsonSchema } from "../../core/json/json.ts";
import type { AgentMessage } from "../../core/messages/message.ts";

/** A tool that the client runs. */
export interface ClientTool {
  /** Name by which the model calls it. */
  readonly name: string;
  /** Description for the model. */
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonSchema;
}

/** The input of a run. Everything but the tools is written by the client. */
export interface ClientInput {
  /** The conversation as the client has it. */
  readonly messages: readonly AgentMessage[];
  /** The tools of the client. */
  readonly tools: readonly ClientTool[];
  /** Facts about what the user sees, which are added to the last message. Default: the protocol has none. */
  readonly context?: readonly { readonly description: string; readonly value: string }[];
  /** The decisions on pending approvals, by the id of the tool call. */
  readonly approvals: Readonly<Record<string, ApprovalDecision>>;
}
