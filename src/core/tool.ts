/**
 * Tools that a model can call.
 *
 * @module
 */

import { BadRequestError } from "./errors.ts";
import type { FileChange } from "./diff/file_change.ts";
import type { AgentEvent } from "./event.ts";
import type { InferArguments, SchemaSource } from "./infer.ts";
import type { JsonObject, JsonSchema } from "./json.ts";
import type { AgentMessage } from "./message.ts";
import { toJsonSchema } from "./schema.ts";
import type { AgentToolResult, ToolUpdate } from "./tool_result.ts";

/**
 * Context of a tool call, passed to the tool with the arguments.
 *
 * @typeParam Context The type of the run's `context`.
 */
export interface ToolContext<Context = unknown> {
  /** Id of the call. */
  readonly toolCallId: string;
  /** Aborted when the call is cancelled or times out; a tool that has not settled 100 ms later is no longer awaited. */
  readonly signal: AbortSignal;
  /** Emits a partial result as `tool_execution_update`; ignored after the call has ended. */
  readonly onUpdate: (update: ToolUpdate) => void;
  /**
   * Emits an event of an agent that the tool runs, as `sub_agent`; the promise resolves when the next event may be
   * emitted.
   */
  readonly onEvent: (event: AgentEvent) => Promise<void>;
  /** Key that stays the same when the call is run again, so that an external service can detect the repetition. */
  readonly idempotencyKey: string;
  /** Id of the run. */
  readonly runId: string;
  /** Number of the turn in the run, from 1. */
  readonly turn: number;
  /** The `context` of the run's options; never sent to the model. */
  readonly context: Context;
  /** The history so far, oldest message first, including the reply that made the call. */
  readonly messages: readonly AgentMessage[];
}

/**
 * Effect of running a call again, which decides how a session resumes a call that a crash interrupted.
 *
 * `none`: the tool changes nothing. `idempotent`: a repetition has no further effect. `once`: the call must not run
 * again.
 */
export type SideEffect = "none" | "idempotent" | "once";

/** A tool that the loop can run; {@linkcode defineTool} creates one with typed arguments. */
export interface AgentTool {
  /** Name by which the model calls it; unique among an agent's tools. */
  readonly name: string;
  /** Name for user interfaces. Default: `name`. */
  readonly label?: string;
  /** Description for the model. */
  readonly description: string;
  /** JSON Schema of the arguments, of type `object`. */
  readonly parameters: JsonSchema;
  /** Whether the tool changes nothing; only such tools are available in plan mode. Default: `false`. */
  readonly readOnly?: boolean;
  /** Whether a call requires approval in the approval mode `smart`. Default: `!readOnly`. */
  readonly requiresApproval?: boolean | ((args: JsonObject) => boolean);
  /** Whether steering may cancel a running call. Default: `true`. */
  readonly interruptible?: boolean;
  /** Whether a call runs alone, without other calls of its batch. Default: `false`. */
  readonly sequential?: boolean;
  /** Returns a key; calls with the same key run one at a time, calls without one concurrently. Default: no key. */
  readonly concurrencyKey?: (args: JsonObject) => string | undefined;
  /** Timeout of a call, in milliseconds. Default: the agent's `toolTimeoutMs`. */
  readonly timeoutMs?: number;
  /** Effect of running a call again. Default: `"none"` for a read-only tool, otherwise `"once"`. */
  readonly sideEffect?: SideEffect;
  /** Returns the file changes that a call would make, for its approval. Default: none. */
  readonly preview?: (
    args: JsonObject,
    context: { readonly signal: AbortSignal },
  ) => Promise<readonly FileChange[]>;
  /**
   * The policies that count the usage of the tool themselves, such as the shared budget of an agent that the tool runs;
   * they then ignore the usage that it reports. Default: none.
   */
  readonly countedBy?: readonly object[];
  /** Runs the tool. If it throws or rejects, the error becomes an error result for the model. */
  readonly execute: (args: JsonObject, context: ToolContext) => Promise<AgentToolResult | string>;
}

/** Definition of a tool for {@linkcode defineTool}: an {@linkcode AgentTool} with typed arguments. */
export interface ToolDefinition<Schema extends SchemaSource, Args = InferArguments<Schema>>
  extends
    Omit<
      AgentTool,
      "parameters" | "requiresApproval" | "concurrencyKey" | "preview" | "execute"
    > {
  /** JSON Schema of the arguments, or a validator that provides one. */
  readonly parameters: Schema;
  /** Whether a call requires approval in the approval mode `smart`. Default: `!readOnly`. */
  readonly requiresApproval?: boolean | ((args: Args) => boolean);
  /** Returns a key; calls with the same key run one at a time. Default: no key. */
  readonly concurrencyKey?: (args: Args) => string | undefined;
  /** Returns the file changes that a call would make, for its approval. Default: none. */
  readonly preview?: (
    args: Args,
    context: { readonly signal: AbortSignal },
  ) => Promise<readonly FileChange[]>;
  /** Runs the tool, synchronously or not. If it throws or rejects, the error becomes an error result for the model. */
  readonly execute: (
    args: Args,
    context: ToolContext,
  ) => AgentToolResult | string | Promise<AgentToolResult | string>;
}

/**
 * Creates a tool whose arguments have the type of its schema.
 *
 * @throws {BadRequestError} If the name is empty, the schema is not an object schema, or the validator does not provide
 * a JSON Schema.
 *
 * @example
 * ```ts
 * import { defineTool } from "@swink/agent";
 *
 * const weather = defineTool({
 *   name: "weather",
 *   description: "Returns the current weather in a city.",
 *   parameters: {
 *     type: "object",
 *     properties: { city: { type: "string" }, unit: { enum: ["celsius", "fahrenheit"] } },
 *     required: ["city"],
 *   },
 *   readOnly: true,
 *   execute: ({ city, unit }) => `Sunny in ${city}, 21 degrees ${unit ?? "celsius"}`,
 * });
 * ```
 */
export function defineTool<const Schema extends SchemaSource>(
  definition: ToolDefinition<Schema>,
): AgentTool {
  const { name } = definition;
  if (name === "") throw new BadRequestError("The name of a tool must not be empty");
  const parameters = toJsonSchema(definition.parameters);
  const { type } = parameters;
  if (type !== undefined && type !== "object") {
    throw new BadRequestError(
      `The parameters of the tool "${name}" must be a schema of type "object", not ${
        JSON.stringify(type)
      }`,
    );
  }
  // The loop passes only arguments that match the schema, so they have its type.
  const untyped = definition as unknown as AgentTool;
  return {
    ...untyped,
    parameters,
    execute: async (args, context) => await untyped.execute(args, context),
  };
}

/** Whether a call requires approval in the approval mode `smart`. */
export function needsApproval(tool: AgentTool, args: JsonObject): boolean {
  const { requiresApproval = !tool.readOnly } = tool;
  return typeof requiresApproval === "function" ? requiresApproval(args) : requiresApproval;
}
