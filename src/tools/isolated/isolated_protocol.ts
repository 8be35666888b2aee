/**
 * What a tool's own process and the agent say to each other: one JSON value a line.
 *
 * @module
 */

import type { AgentToolResult, ToolUpdate } from "../../core/tool.ts";
import type { JsonObject, JsonSchema } from "../../core/json.ts";

/** What the agent asks, once per process, on its standard input. */
export type IsolatedRequest =
  | { readonly type: "describe" }
  | {
    readonly type: "execute";
    readonly arguments: JsonObject;
    readonly toolCallId: string;
    readonly idempotencyKey: string;
  };

/** What the process answers on its standard output, after {@linkcode RESPONSE_PREFIX}. */
export type IsolatedResponse =
  | { readonly type: "description"; readonly description: IsolatedDescription }
  | { readonly type: "update"; readonly update: ToolUpdate }
  | { readonly type: "result"; readonly result: AgentToolResult }
  | { readonly type: "error"; readonly message: string };

/** What is known of a tool without running it. */
export interface IsolatedDescription {
  /** Its name. */
  readonly name: string;
  /** Its name for people. */
  readonly label?: string;
  /** What it does, for the model. */
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly parameters: JsonSchema;
  /** Whether it changes nothing. */
  readonly readOnly?: boolean;
}

/** Lines without it are what the tool's own code printed. */
export const RESPONSE_PREFIX = "\u001eswink ";
