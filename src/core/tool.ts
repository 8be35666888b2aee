/**
 * Tools: what a model can do.
 *
 * @module
 */

import type { ContentBlock } from "./content.ts";
import { BadRequestError } from "./errors.ts";
import type { FileChange } from "./diff/file_change.ts";
import type { InferArguments, SchemaSource } from "./infer.ts";
import type { JsonObject, JsonSchema } from "./json.ts";
import { toJsonSchema } from "./schema.ts";

/** What a tool answers. */
export interface AgentToolResult {
  /** Text and image blocks for the model. */
  readonly content: readonly ContentBlock[];
  /** Structured facts for logs and displays; never sent to the model. */
  readonly details?: unknown;
  /** Whether the tool failed. Default: `false`. */
  readonly isError?: boolean;
}

/** A partial result while a tool runs: text, or anything that a display understands. */
export type ToolUpdate = AgentToolResult | string;

/** What a tool gets besides its arguments. */
export interface ToolContext {
  /** Id of the call. */
  readonly toolCallId: string;
  /** Fires when the call is cancelled or times out. A tool that ignores it is left behind after 100 ms. */
  readonly signal: AbortSignal;
  /** Shows a partial result; ignored after the call has ended. */
  readonly onUpdate: (update: ToolUpdate) => void;
  /** The same for every repetition of this call, so that an outside service can tell a repetition. */
  readonly idempotencyKey: string;
}

/** What resuming a session may do with a call that started and was cut off by a crash. */
export type SideEffect = "none" | "idempotent" | "once";

/** A tool as the loop runs it; {@linkcode defineTool} makes one with typed arguments. */
export interface AgentTool {
  /** Name by which the model calls it; unique among an agent's tools. */
  readonly name: string;
  /** Name for people. Default: `name`. */
  readonly label?: string;
  /** What it does, for the model. */
  readonly description: string;
  /** JSON Schema of its arguments, an object schema. */
  readonly parameters: JsonSchema;
  /** Whether it changes nothing; only such tools exist in plan mode. Default: `false`. */
  readonly readOnly?: boolean;
  /** Whether a person should be asked first. Default: `!readOnly`. */
  readonly requiresApproval?: boolean | ((args: JsonObject) => boolean);
  /** Whether steering may cancel it while it runs. Default: `true`. */
  readonly interruptible?: boolean;
  /** Whether nothing else of the batch may run beside it. Default: `false`. */
  readonly sequential?: boolean;
  /** Calls with the same key run one at a time; `undefined` stands for no key. */
  readonly concurrencyKey?: (args: JsonObject) => string | undefined;
  /** Longest time it may take, in milliseconds. Default: the agent's `toolTimeoutMs`. */
  readonly timeoutMs?: number;
  /** What a repetition would do to the world. Default: `"none"` for a read-only tool, else `"once"`. */
  readonly sideEffect?: SideEffect;
  /** The file changes that a call would make, for the person who is asked. */
  readonly preview?: (
    args: JsonObject,
    context: { readonly signal: AbortSignal },
  ) => Promise<readonly FileChange[]>;
  /** Runs the tool. Whatever it throws becomes an error result that the model reads. */
  readonly execute: (args: JsonObject, context: ToolContext) => Promise<AgentToolResult | string>;
}

/** What {@linkcode defineTool} takes: an {@linkcode AgentTool} whose arguments have the type of its schema. */
export interface ToolDefinition<Schema extends SchemaSource, Args = InferArguments<Schema>>
  extends
    Omit<
      AgentTool,
      "parameters" | "requiresApproval" | "concurrencyKey" | "preview" | "execute"
    > {
  /** JSON Schema of the arguments, or a validator that can give one. */
  readonly parameters: Schema;
  /** Whether a person should be asked first. Default: `!readOnly`. */
  readonly requiresApproval?: boolean | ((args: Args) => boolean);
  /** Calls with the same key run one at a time. */
  readonly concurrencyKey?: (args: Args) => string | undefined;
  /** The file changes that a call would make, for the person who is asked. */
  readonly preview?: (
    args: Args,
    context: { readonly signal: AbortSignal },
  ) => Promise<readonly FileChange[]>;
  /** Runs the tool; may be synchronous. Whatever it throws becomes an error result. */
  readonly execute: (
    args: Args,
    context: ToolContext,
  ) => AgentToolResult | string | Promise<AgentToolResult | string>;
}

/**
 * Makes a tool whose arguments have the type that its schema describes.
 *
 * @throws {BadRequestError} When the name is empty or the schema is not one of an object.
 *
 * @example
 * ```ts
 * import { defineTool } from "@swink/agent";
 *
 * const weather = defineTool({
 *   name: "weather",
 *   description: "Tells the weather in a city.",
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
  if (name === "") throw new BadRequestError("A tool needs a name");
  const parameters = toJsonSchema(definition.parameters);
  const { type } = parameters;
  if (type !== undefined && type !== "object") {
    throw new BadRequestError(
      `The parameters of the tool "${name}" must be an object schema, not one of type ${
        JSON.stringify(type)
      }`,
    );
  }
  // The loop hands over only arguments that the schema accepted, so they have the type it describes.
  const erased = definition as unknown as AgentTool;
  return {
    ...erased,
    parameters,
    execute: async (args, context) => await erased.execute(args, context),
  };
}

/** A tool result of one text. */
export function textResult(text: string, details?: unknown): AgentToolResult {
  const content: ContentBlock[] = [{ type: "text", text }];
  return details === undefined ? { content } : { content, details };
}

/** A failed tool result whose text tells the model what to do instead. */
export function errorResult(text: string, details?: unknown): AgentToolResult {
  return { ...textResult(text, details), isError: true };
}

/** Tells whether a person should be asked before a call runs. */
export function needsApproval(tool: AgentTool, args: JsonObject): boolean {
  const { requiresApproval = !tool.readOnly } = tool;
  return typeof requiresApproval === "function" ? requiresApproval(args) : requiresApproval;
}
