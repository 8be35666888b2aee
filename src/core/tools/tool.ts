/**
 * Tools that a model can call.
 *
 * @module
 */

import type { RefusedHunks } from "../approval/approval.ts";
import type { RiskClass } from "../approval/risk.ts";
import type { FileChange } from "../diff/file_change.ts";
import type { AgentEvent } from "../events/event.ts";
import type { RunHandle } from "../events/run_handle.ts";
import type { JsonObject, JsonSchema } from "../json/json.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { AgentToolResult, ToolOutput, ToolUpdate } from "../messages/tool_result.ts";
import type { InferArguments, SchemaSource } from "../schemas/infer.ts";
import { createValidate } from "../schemas/parameters.ts";
import type { ValidationResult } from "../schemas/schema.ts";
import { toJsonSchema } from "../schemas/standard_schema.ts";
import { checkTool, checkToolName } from "./check_tool.ts";

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
  /**
   * Emits a partial result as `tool_execution_update`; ignored after the call has ended. When 128 wait for a slow reader, a
   * newer one replaces the last of them.
   */
  readonly onUpdate: (update: ToolUpdate) => void;
  /**
   * Emits an event of an agent that the tool runs, as `sub_agent`; the promise resolves when the next event may be
   * emitted.
   */
  readonly onEvent: (event: AgentEvent) => Promise<void>;
  /**
   * Pauses the timeout of the call, such as while the tool waits for a person; returns a function that ends the pause.
   * Default: the call has no timeout.
   */
  readonly pauseTimeout?: (() => () => void) | undefined;
  /** Key that stays the same when the call is run again, so that an external service can detect the repetition. */
  readonly idempotencyKey: string;
  /** Id of the run. */
  readonly runId: string;
  /** The run, as the `parent` of an agent that the tool runs, and for work that continues after the call. */
  readonly run: RunHandle;
  /** Number of the turn in the run, from 1. */
  readonly turn: number;
  /** The `context` of the run's options; never sent to the model. */
  readonly context: Context;
  /** A frozen copy of the history, oldest message first, with the reply that made the call; no part can be changed. */
  readonly messages: readonly AgentMessage[];
  /**
   * Headers by which other programs continue the trace of the call, such as `traceparent`. Default: the run is not
   * traced.
   */
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined;
}

/**
 * Effect of running a call again, which decides how a session resumes a call that a crash interrupted.
 *
 * `none`: the tool changes nothing. `idempotent`: a repetition has no further effect. `once`: the call must not run
 * again.
 */
export type SideEffect = "none" | "idempotent" | "once";

/**
 * A tool that the loop can run; {@linkcode defineTool} creates one with typed arguments.
 *
 * @typeParam Context The type of the run's `context` that it expects. `AgentTool<never>` is any tool.
 */
export interface AgentTool<Context = unknown> {
  /** Name by which the model calls it; unique among an agent's tools. */
  readonly name: string;
  /** Name for user interfaces. Default: `name`. */
  readonly label?: string | undefined;
  /** Description for the model. */
  readonly description: string;
  /** JSON Schema of the arguments, of type `object`. */
  readonly parameters: JsonSchema;
  /** Whether the tool changes nothing; only such tools are available in plan mode. Default: `false`. */
  readonly readOnly?: boolean | undefined;
  /** Whether a call requires approval in the approval mode `smart`. Default: `!readOnly`. */
  readonly requiresApproval?: boolean | ((args: JsonObject) => boolean) | undefined;
  /** The risk class of a call, for approvals by class. Default: `"read"` if `readOnly`, otherwise `"execute"`. */
  readonly risk?: RiskClass | ((args: JsonObject) => RiskClass | Promise<RiskClass>) | undefined;
  /** Whether steering may cancel a running call. Default: `true`. */
  readonly interruptible?: boolean | undefined;
  /** Whether a call runs alone, without other calls of its batch. Default: `false`. */
  readonly sequential?: boolean | undefined;
  /** Returns a key; calls with the same key run one at a time, calls without one concurrently. Default: no key. */
  readonly concurrencyKey?: ((args: JsonObject) => string | undefined) | undefined;
  /** Timeout of a call, in milliseconds. Default: the agent's `toolTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /** Effect of running a call again. Default: `"none"` for a read-only tool, otherwise `"once"`. */
  readonly sideEffect?: SideEffect | undefined;
  /**
   * Returns attributes of the span of a call, in addition to those of telemetry itself, such as the address of a server.
   * Default: none.
   */
  readonly traceAttributes?:
    | (() => Readonly<Record<string, string | number | boolean>>)
    | undefined;
  /** Returns the file changes that a call would make, for its approval. Default: none. */
  readonly preview?:
    | ((
      args: JsonObject,
      context: { readonly signal: AbortSignal },
    ) => Promise<readonly FileChange[]>)
    | undefined;
  /**
   * Returns the arguments of a call that makes its change without the refused hunks of `preview`. Without it, an approval
   * that refuses hunks denies the call.
   */
  readonly omitHunks?:
    | ((
      args: JsonObject,
      context: { readonly refused: readonly RefusedHunks[]; readonly signal: AbortSignal },
    ) => Promise<JsonObject>)
    | undefined;
  /**
   * The policies that count the usage of the tool themselves, such as the shared budget of an agent that the tool runs;
   * they then ignore the usage that it reports. `"all"` for a tool whose agents have the run as their `parent`, and so all
   * of its policies. Default: none.
   */
  readonly countedBy?: readonly object[] | "all" | undefined;
  /**
   * Checks the arguments of a call further, and returns what `execute` gets in their place. Called with a copy of
   * arguments that match the JSON Schema; errors go back to the model. Default: `execute` gets the arguments as they are.
   */
  readonly validate?:
    | ((args: JsonObject) => ValidationResult<unknown> | Promise<ValidationResult<unknown>>)
    | undefined;
  /** Runs the tool. If it throws or rejects, the error becomes an error result for the model. */
  readonly execute: (
    args: JsonObject,
    context: ToolContext<Context>,
  ) => Promise<AgentToolResult | string>;
}

/**
 * The type of a `context` that all of some tools accept. An object may have more properties than they use, also if it is
 * written as a literal.
 *
 * @example
 * ```ts ignore
 * // { user: string } & { now: () => Date }
 * type Context = ExpectedContext<AgentTool<{ user: string }> | AgentTool<{ now: () => Date }>>;
 * ```
 */
export type ExpectedContext<Tool extends AgentTool<never>> = [Tool] extends
  [AgentTool<infer Context>] ? Context | (Context & JsonObject) : never;

/**
 * Definition of a tool for {@linkcode defineTool}: an {@linkcode AgentTool} with typed arguments.
 *
 * `execute` gets the output of a validator's schema, and the properties that have a default. The other functions get the
 * arguments as the model wrote them.
 */
export interface ToolDefinition<
  Schema extends SchemaSource,
  Context = unknown,
  Args = InferArguments<Schema>,
  Input = InferArguments<Schema, "input">,
> extends
  Omit<
    AgentTool,
    | "parameters"
    | "requiresApproval"
    | "risk"
    | "concurrencyKey"
    | "preview"
    | "omitHunks"
    | "validate"
    | "execute"
  > {
  /** JSON Schema of the arguments, or a validator that provides one. */
  readonly parameters: Schema;
  /** Whether a call requires approval in the approval mode `smart`. Default: `!readOnly`. */
  readonly requiresApproval?: boolean | ((args: Input) => boolean) | undefined;
  /** The risk class of a call, for approvals by class. Default: `"read"` if `readOnly`, otherwise `"execute"`. */
  readonly risk?: RiskClass | ((args: Input) => RiskClass | Promise<RiskClass>) | undefined;
  /** Returns a key; calls with the same key run one at a time. Default: no key. */
  readonly concurrencyKey?: ((args: Input) => string | undefined) | undefined;
  /** Returns the file changes that a call would make, for its approval. Default: none. */
  readonly preview?:
    | ((args: Input, context: { readonly signal: AbortSignal }) => Promise<readonly FileChange[]>)
    | undefined;
  /** Returns the arguments of a call without the refused hunks of its change. Default: hunks cannot be refused. */
  readonly omitHunks?:
    | ((
      args: Input,
      context: { readonly refused: readonly RefusedHunks[]; readonly signal: AbortSignal },
    ) => Promise<JsonObject>)
    | undefined;
  /** Runs the tool, synchronously or not. If it throws or rejects, the error becomes an error result for the model. */
  readonly execute: (
    args: Args,
    context: ToolContext<Context>,
    // As an `object`, a promise would be accepted whatever its value, such as that of a function without a `return`.
  ) => Exclude<ToolOutput, object> | (object & { readonly then?: never }) | Promise<ToolOutput>;
}

/**
 * Creates a tool whose arguments have the type of its schema.
 *
 * The arguments of a call are checked against the JSON Schema. Then a validator of a library runs, and its output, with
 * defaults and transforms, is what `execute` gets; for a plain JSON Schema, missing properties with a `default` are
 * filled in.
 *
 * @throws {BadRequestError} If a property is missing or invalid, the name has characters that providers do not accept,
 * the schema is invalid or not for objects, or a validator does not provide its JSON Schema.
 *
 * @example
 * ```ts
 * import { defineTool } from "@swink/agent";
 *
 * const weather = defineTool({
 *   name: "weather",
 *   description: "Returns the weather forecast of a city.",
 *   parameters: {
 *     type: "object",
 *     properties: { city: { type: "string" }, days: { type: "integer", default: 3 } },
 *     required: ["city"],
 *   },
 *   readOnly: true,
 *   execute: ({ city, days }) => `${city}: sunny for ${days} days`,
 * });
 * ```
 */
export function defineTool<const Schema extends SchemaSource, Context = unknown>(
  definition: ToolDefinition<Schema, Context>,
): AgentTool<Context> {
  checkToolName(definition?.name);
  // Only arguments that match the schema are passed to the tool, so they have its type.
  const untyped = definition as unknown as AgentTool<Context>;
  const subject = `The schema of the tool "${definition.name}"`;
  const parameters = toJsonSchema(definition.parameters, subject);
  checkTool({ ...untyped, parameters });
  const validate = createValidate(definition.parameters, parameters, subject);
  return {
    ...untyped,
    parameters,
    ...(validate && { validate }),
    execute: async (args, context) => {
      const returned = untyped.execute(args, context);
      // The usual output of a synchronous tool needs no wait.
      const output = typeof returned === "string" ? returned : await returned;
      if (typeof output === "string") return output;
      // Loaded with the code of the first run.
      const { toToolResult } = await import("../schemas/compile_schema.ts");
      return toToolResult(output);
    },
  };
}

/** Whether a policy counts the usage of a tool itself, so that it ignores what the tool reports. */
export function isCountedBy({ countedBy }: AgentTool<never>, policy: object): boolean {
  return countedBy === "all" || (countedBy?.includes(policy) ?? false);
}
