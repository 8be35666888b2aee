/**
 * The messages between the two threads of a synchronous run.
 *
 * @module
 */

import type { ApprovalDecisions } from "../core/approval/approval.ts";
import type { AgentErrorRecord } from "../core/errors/errors.ts";
import type { JsonSchema } from "../core/json/json.ts";
import type { PromptInput } from "../core/messages/message.ts";
import type { StreamOptions, ToolChoice } from "../core/streams/stream.ts";

/** The options of a run that can be passed to another thread. */
export interface SyncRunOptions {
  /** Maximum number of turns. Default: that of the agent. */
  readonly maxTurns?: number | undefined;
  /** Constraint on tool calls; one that forces a call applies only to the first turn. Default: that of the agent. */
  readonly toolChoice?: ToolChoice | undefined;
  /** Options of the model calls, which replace those of the agent one by one. Default: none. */
  readonly streamOptions?: StreamOptions | undefined;
}

/** The method of the agent to call. */
export type SyncCall =
  | { readonly type: "prompt"; readonly input: PromptInput; readonly options: SyncRunOptions }
  | {
    readonly type: "continue";
    readonly options: SyncRunOptions & { readonly approvals?: ApprovalDecisions | undefined };
  }
  | {
    readonly type: "structured_output";
    readonly input: PromptInput;
    readonly schema: JsonSchema;
    readonly options: SyncRunOptions & { readonly maxRetries?: number };
  };

/** The request to the worker. */
export interface SyncRequest {
  /** URL of the module whose default export is the agent, or a function that returns it. */
  readonly module: string;
  /** The method to call. */
  readonly call: SyncCall;
  /** The buffer of the channel for the response. */
  readonly buffer: SharedArrayBuffer;
}

/** The response of the worker, sent as JSON. */
export type SyncResponse =
  | { readonly type: "returned"; readonly value: unknown }
  | { readonly type: "failed"; readonly error: AgentErrorRecord };
