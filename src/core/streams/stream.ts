/**
 * The contract between the loop and an adapter: the request, and the events of the reply.
 *
 * @module
 */

import type { AgentError } from "../errors/errors.ts";
import type { JsonObject, JsonSchema } from "../json/json.ts";
import type { Citation } from "../messages/content.ts";
import type { LlmMessage } from "../messages/message.ts";
import type { ModelSpec, StopReason } from "../models/model.ts";
import type { Cost, Prices, Usage } from "../models/usage.ts";
import type { ServerTool } from "./server_tool.ts";

/** A tool as described to the model. */
export interface ToolSpec {
  /** Name by which the model calls it. */
  readonly name: string;
  /** Description for the model. */
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonSchema;
}

/** Input of the model. */
export interface LlmContext {
  /** The system prompt; empty for none. */
  readonly systemPrompt: string;
  /** The conversation, oldest message first. */
  readonly messages: readonly LlmMessage[];
  /** The tools that the model may call. */
  readonly tools: readonly ToolSpec[];
}

/**
 * Constraint on tool calls. `auto`: the model decides. `none`: no tool call. `required`: at least one tool call. An
 * object: a call of the tool with this name.
 */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** How long the provider caches the prompt. `off`: not at all. `short`, `long`: for its shorter or longer period. */
export type CacheRetention = "off" | "short" | "long";

/** Processing of a request: `flex` is slower and cheaper than `default`, `priority` faster and more expensive. */
export type ServiceTier = "auto" | "default" | "flex" | "priority";

/** Length of replies. */
export type Verbosity = "low" | "medium" | "high";

/** Summaries of a model's reasoning, which become thinking blocks. */
export type ReasoningSummary = "off" | "auto" | "concise" | "detailed";

/**
 * Options of a model call. An option that the provider does not support is ignored and reported as a `warning` event.
 */
export interface StreamOptions {
  /** Sampling temperature. Default: the provider's. */
  readonly temperature?: number | undefined;
  /** Probability mass of the tokens to sample from, in (0, 1]. Default: the provider's. */
  readonly topP?: number | undefined;
  /** Texts that end the reply when the model writes them. Default: none. */
  readonly stop?: readonly string[] | undefined;
  /** Seed for reproducible sampling. Default: none. */
  readonly seed?: number | undefined;
  /** Maximum number of output tokens. Default: the adapter's default for the model. */
  readonly maxTokens?: number | undefined;
  /** Id of the conversation, by which the provider may find its cache. Default: a hash of its start. */
  readonly sessionId?: string | undefined;
  /** Transport of the events. Default: `"sse"`. */
  readonly transport?: "sse" | undefined;
  /**
   * API key of the provider of the model: of that in the options of an agent, or, in the options of a run, of the current
   * one. It is sent to no other provider. Default: the adapter's own key.
   */
  readonly apiKey?: string | undefined;
  /** Prompt caching. Default: `"short"`. */
  readonly cache?: CacheRetention | undefined;
  /** Constraint on tool calls. Default: `"auto"`. */
  readonly toolChoice?: ToolChoice | undefined;
  /** Schema that the reply must match as JSON, if the provider can enforce it. Default: none. */
  readonly responseSchema?: JsonSchema | undefined;
  /** Tools that the provider runs itself, in addition to the tools of the agent. Default: none. */
  readonly serverTools?: readonly ServerTool[] | undefined;
  /** Processing of the request. Default: the provider's. The cost of `flex` and `priority` is unknown without own rates. */
  readonly serviceTier?: ServiceTier | undefined;
  /** Length of the reply. Default: the provider's. */
  readonly verbosity?: Verbosity | undefined;
  /** Summaries of the reasoning. Default: `"auto"` if the model thinks. */
  readonly reasoningSummary?: ReasoningSummary | undefined;
  /**
   * Additional fields of the request body, merged at every depth; the typed options take precedence. Lists of tools and
   * of texts are joined. They are for the provider of the model: of that in the options of an agent, or, in the options of
   * a run, of the current one. A model of another provider, such as a fallback, does not get them. Default: none.
   */
  readonly extra?: JsonObject | undefined;
}

/** A model call. */
export interface StreamRequest {
  /** The model to call. */
  readonly model: ModelSpec;
  /** The input of the model. */
  readonly context: LlmContext;
  /** Options of the call. */
  readonly options: StreamOptions;
  /** Id of the run, if the call belongs to one. */
  readonly runId?: string | undefined;
  /** Number of the turn in the run, from 1, if the call belongs to a run. */
  readonly turn?: number | undefined;
  /**
   * Maximum time that the caller waits for a rate limit, in milliseconds: the maximum delay of its retry strategy.
   * Default: unlimited.
   */
  readonly maxWaitMs?: number | undefined;
  /** Aborts the call and closes its connection. */
  readonly signal: AbortSignal;
}

/** Facts about the models that a stream function calls. */
export interface ModelFacts {
  /** Whether the provider enforces a schema passed as `StreamOptions.responseSchema`. Default: `false`. */
  readonly hasStrictSchema?:
    | ((model: ModelSpec, schema: JsonSchema) => boolean | Promise<boolean>)
    | undefined;
  /** The prices that are known for the models. Default: none. */
  readonly prices?: Prices | undefined;
  /** Returns the context window of a model in tokens, or `undefined` if it is unknown. Default: unknown. */
  readonly contextWindow?: ((model: ModelSpec) => number | undefined) | undefined;
  /** Returns the maximum number of output tokens of a model, or `undefined` if it is unknown. Default: unknown. */
  readonly maxOutputTokens?: ((model: ModelSpec) => number | undefined) | undefined;
  /** Loads what is known about the models; before, prices and limits may be unknown. Default: nothing to load. */
  readonly loadFacts?: (() => Promise<unknown>) | undefined;
}

/**
 * Calls a model; the interface between the loop and an adapter.
 *
 * Contract: the function and its iterator never throw; a failure is an `error` event. The first event is `start`, and
 * the last one is the only `done` or `error`. Each block has a start, deltas and an end with the same `contentIndex`,
 * which counts from 0 in the order of the starts; only a tool call that a `length` stop truncates has no end. An
 * extension block is a single event. An aborted call ends with an `error` event whose stop reason is `"aborted"`.
 *
 * @example
 * ```ts
 * import { NetworkError, type StreamFn } from "@swink/agent";
 *
 * const streamFn: StreamFn = async function* ({ context, signal }) {
 *   yield { type: "start" };
 *   try {
 *     const body = JSON.stringify(context.messages);
 *     const response = await fetch("https://example.org/chat", { method: "POST", body, signal });
 *     yield { type: "text_start", contentIndex: 0 };
 *     yield { type: "text_delta", contentIndex: 0, delta: await response.text() };
 *     yield { type: "text_end", contentIndex: 0 };
 *     const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
 *     yield { type: "done", stopReason: "stop", usage };
 *   } catch (cause) {
 *     const error = new NetworkError("The chat server failed", { cause });
 *     yield { type: "error", stopReason: signal.aborted ? "aborted" : "error", error };
 *   }
 * };
 * ```
 */
export interface StreamFn extends ModelFacts {
  /** Calls the model and returns the events of the reply. */
  (request: StreamRequest): AsyncIterable<AssistantMessageEvent>;
}

/** The reply starts. */
export interface StreamStartEvent {
  readonly type: "start";
}

/** A text or thinking block starts. */
export interface BlockStartEvent {
  readonly type: "text_start" | "thinking_start";
  /** Index of the block in the reply. */
  readonly contentIndex: number;
}

/** A part of a block's text, or of the JSON text of a tool call's arguments. */
export interface BlockDeltaEvent {
  readonly type: "text_delta" | "thinking_delta" | "tool_call_delta";
  /** Index of the block in the reply. */
  readonly contentIndex: number;
  /** The text to append. */
  readonly delta: string;
}

/** A block is complete. */
export interface BlockEndEvent {
  readonly type: "text_end" | "thinking_end" | "tool_call_end";
  /** Index of the block in the reply. */
  readonly contentIndex: number;
  /** Opaque token that the provider expects back with the block. */
  readonly signature?: string | undefined;
  /** For `thinking_end`: whether the reasoning is encrypted, with the ciphertext in `signature`. Default: `false`. */
  readonly redacted?: boolean | undefined;
  /** For `text_end`: the sources that the model cites for the text. Default: none. */
  readonly citations?: readonly Citation[] | undefined;
}

/** A tool call starts. */
export interface ToolCallStartEvent {
  readonly type: "tool_call_start";
  /** Index of the block in the reply. */
  readonly contentIndex: number;
  /** The provider's id of the call; the loop replaces an empty or duplicate id. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
}

/** A complete extension block. */
export interface ExtensionEvent {
  readonly type: "extension";
  /** Index of the block in the reply. */
  readonly contentIndex: number;
  /** Kind of item, such as `"openai.reasoning"`. */
  readonly typeName: string;
  /** The item; any JSON value. */
  readonly data: unknown;
}

/** A problem that does not end the reply, such as an unsupported option. */
export interface StreamWarningEvent {
  readonly type: "warning";
  /** Kind of warning, such as `"unsupported_option"`. */
  readonly code: string;
  /** Description for the user. */
  readonly message: string;
  /** Details, any JSON value. */
  readonly data?: unknown;
}

/** The reply is complete. */
export interface StreamDoneEvent {
  readonly type: "done";
  /** The reason why the model stopped. */
  readonly stopReason: StopReason;
  /** Token counts of the reply. */
  readonly usage: Usage;
  /** Cost as reported by the provider. Default: calculated from the agent's prices. */
  readonly cost?: Cost | undefined;
  /** The provider's id of the reply, if it has one. */
  readonly responseId?: string | undefined;
}

/** The reply failed or was aborted. */
export interface StreamErrorEvent {
  readonly type: "error";
  /** Whether the reply failed or was aborted. */
  readonly stopReason: "error" | "aborted";
  /** The error. */
  readonly error: AgentError;
  /** Token counts of the failed call, if known. */
  readonly usage?: Usage | undefined;
}

/** An event of a reply, as returned by a {@linkcode StreamFn}. */
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

/** A part of a reply in a `message_update` event. */
export type AssistantMessageDelta = BlockDeltaEvent | ToolCallStartEvent;
