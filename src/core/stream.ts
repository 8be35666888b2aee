/**
 * The contract between the loop and a model: what is asked, and the events that answer.
 *
 * @module
 */

import type { AgentError } from "./errors.ts";
import type { JsonObject, JsonSchema } from "./json.ts";
import type { LlmMessage } from "./message.ts";
import type { ModelSpec, StopReason } from "./model.ts";
import type { Cost, Usage } from "./usage.ts";

/** A tool as the model is told of it. */
export interface ToolSpec {
  /** Name by which the model calls it. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly parameters: JsonSchema;
}

/** What the model gets to see. */
export interface LlmContext {
  /** The system prompt; empty for none. */
  readonly systemPrompt: string;
  /** The conversation. */
  readonly messages: readonly LlmMessage[];
  /** The tools it may call. */
  readonly tools: readonly ToolSpec[];
}

/** Which tool the model must, may or must not call. */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** How long the provider should keep the prompt cached: not at all, its shorter time, its longer time. */
export type CacheRetention = "off" | "short" | "long";

/** Options of one model call. Whatever a provider cannot take is told in a `warning` event. */
export interface StreamOptions {
  /** Sampling temperature. Default: the provider's. */
  readonly temperature?: number;
  /** Most tokens to produce. Default: the adapter's for the model. */
  readonly maxTokens?: number;
  /** A name of the conversation that the provider may use for caching. */
  readonly sessionId?: string;
  /** How events travel. Default: `"sse"`. */
  readonly transport?: "sse";
  /** Beats the adapter's own key. */
  readonly apiKey?: string;
  /** Prompt caching. Default: `"short"`. */
  readonly cache?: CacheRetention;
  /** Which tool must be called. Default: `"auto"`. */
  readonly toolChoice?: ToolChoice;
  /** Asks for a reply that is JSON of this schema, where the provider can enforce it. */
  readonly responseSchema?: JsonSchema;
  /** Fields for the request body as they are; typed fields win over them. */
  readonly extra?: JsonObject;
}

/** One model call. */
export interface StreamRequest {
  /** The model to ask. */
  readonly model: ModelSpec;
  /** What it gets to see. */
  readonly context: LlmContext;
  /** How it is asked. */
  readonly options: StreamOptions;
  /** Cancels the call; the connection is closed at once. */
  readonly signal: AbortSignal;
}

/**
 * Asks a model. The one interface between the loop and any provider.
 *
 * Contract: never throws; failures are events. The events begin with `start` and end with exactly one
 * `done` or `error`, after which nothing comes. Every block is started, fed and ended under its
 * `contentIndex`; only a tool call that a `length` stop cut off stays open. On abort it ends with `error`
 * of stop reason `"aborted"`.
 */
export interface StreamFn {
  /** Asks. */
  (request: StreamRequest): AsyncIterable<AssistantMessageEvent>;
  /**
   * Whether the provider itself holds a model's replies to a schema given as `StreamOptions.responseSchema`. Default:
   * it does not.
   */
  readonly hasStrictSchema?: (model: ModelSpec, schema: JsonSchema) => boolean;
}

/** The reply begins. */
export interface StreamStartEvent {
  /** Discriminant. */
  readonly type: "start";
}

/** A text or thinking block begins. */
export interface BlockStartEvent {
  /** Discriminant. */
  readonly type: "text_start" | "thinking_start";
  /** Position of the block in the message. */
  readonly contentIndex: number;
}

/** A piece of a block's text, or of a tool call's arguments. */
export interface BlockDeltaEvent {
  /** Discriminant. */
  readonly type: "text_delta" | "thinking_delta" | "tool_call_delta";
  /** Position of the block in the message. */
  readonly contentIndex: number;
  /** The text to append. */
  readonly delta: string;
}

/** A block is complete. */
export interface BlockEndEvent {
  /** Discriminant. */
  readonly type: "text_end" | "thinking_end" | "tool_call_end";
  /** Position of the block in the message. */
  readonly contentIndex: number;
  /** An opaque mark that the provider wants back with the block. */
  readonly signature?: string;
  /** For `thinking_end`: the reasoning was sent encrypted, as the signature. */
  readonly redacted?: boolean;
}

/** A tool call begins. */
export interface ToolCallStartEvent {
  /** Discriminant. */
  readonly type: "tool_call_start";
  /** Position of the block in the message. */
  readonly contentIndex: number;
  /** The provider's id of the call; may be empty, the loop then gives one. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
}

/** A whole extension block. */
export interface ExtensionEvent {
  /** Discriminant. */
  readonly type: "extension";
  /** Position of the block in the message. */
  readonly contentIndex: number;
  /** Names the kind of item. */
  readonly typeName: string;
  /** The item; any JSON value. */
  readonly data: unknown;
}

/** Something the user should know: an option that was left out, a price that is not known. */
export interface StreamWarningEvent {
  /** Discriminant. */
  readonly type: "warning";
  /** Names the kind of warning. */
  readonly code: string;
  /** The warning in words. */
  readonly message: string;
  /** Facts about it; any JSON value. */
  readonly data?: unknown;
}

/** The reply is complete. */
export interface StreamDoneEvent {
  /** Discriminant. */
  readonly type: "done";
  /** Why the model stopped. */
  readonly stopReason: StopReason;
  /** Tokens of the reply. */
  readonly usage: Usage;
  /** What the provider itself says it cost. */
  readonly cost?: Cost;
}

/** The reply failed, or was cancelled. */
export interface StreamErrorEvent {
  /** Discriminant. */
  readonly type: "error";
  /** Whether it failed or was cancelled. */
  readonly stopReason: "error" | "aborted";
  /** What went wrong. */
  readonly error: AgentError;
  /** Tokens that were used all the same, where known. */
  readonly usage?: Usage;
}

/** What a {@linkcode StreamFn} answers with. */
export type AssistantMessageEvent =
  | StreamStartEvent
  | BlockStartEvent
  | BlockDeltaEvent
  | BlockEndEvent
  | ToolCallStartEvent
  | ExtensionEvent
  | StreamWarningEvent
  | StreamDoneEvent
  | StreamErrorEvent;

/** What observers of a run see of a growing reply. */
export type AssistantMessageDelta = BlockDeltaEvent | ToolCallStartEvent;
