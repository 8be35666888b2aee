/**
 * Messages between an isolated tool's process and the agent: one JSON value per line.
 *
 * @module
 */

import type { JsonObject, JsonSchema } from "../../core/json/json.ts";
import type { AgentToolResult, ToolUpdate } from "../../core/messages/tool_result.ts";

/** The request on the standard input of the process: one per process. */
export type IsolatedRequest =
  | { readonly type: "describe" }
  | {
    readonly type: "execute";
    readonly arguments: JsonObject;
    readonly toolCallId: string;
    readonly idempotencyKey: string;
  };

/** A response on the standard output of the process, after {@linkcode RESPONSE_PREFIX}. */
export type IsolatedResponse =
  | { readonly type: "description"; readonly description: IsolatedDescription }
  | { readonly type: "update"; readonly update: ToolUpdate }
  | { readonly type: "result"; readonly result: AgentToolResult }
  | { readonly type: "error"; readonly message: string };

/** Serializable description of a tool. */
export interface IsolatedDescription {
  /** Name of the tool. */
  readonly name: string;
  /** Name for display. */
  readonly label?: string;
  /** Description for the model. */
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonSchema;
  /** Whether the tool changes nothing. */
  readonly readOnly?: boolean;
}

/** Begins each response line; other lines are output of the tool's code. */
export const RESPONSE_PREFIX = "\u001eswink ";
