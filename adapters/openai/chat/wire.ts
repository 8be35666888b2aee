/**
 * Types of the chat completions API; only the fields that are used.
 *
 * Compatible servers may omit any field or send a value of another type.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";

/** Type name of extension blocks with reasoning for OpenRouter and compatible gateways. */
export const REASONING_DETAILS = "openai.reasoning_details";

/** Signature of thinking blocks that are sent back as `reasoning_content`. */
export const REASONING_CONTENT = "reasoning_content";

/** A message of a request. */
export type WireMessage = JsonObject & { readonly role: string };

/** A piece of a tool call. */
export interface WireToolCall {
  readonly index?: number | string | null;
  readonly id?: string | null;
  readonly function?: {
    readonly name?: string | null;
    readonly arguments?: unknown;
  } | null;
  /** Signature of Gemini models. */
  readonly extra_content?: unknown;
}

/** A piece of `reasoning_details`. */
export type WireReasoningDetail = JsonObject & { readonly type?: string };

/** New content of a reply. */
export interface WireDelta {
  readonly content?: string | readonly WireContentPart[] | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_details?: readonly WireReasoningDetail[] | null;
  readonly tool_calls?: readonly WireToolCall[] | null;
  /** Speech of models with audio output. */
  readonly audio?: unknown;
  /** Pictures of models with image output, at OpenRouter. */
  readonly images?: unknown;
  /** Sources at OpenAI and OpenRouter. */
  readonly annotations?: unknown;
  /** The only tool call, at servers with OpenAI's first form of tool calls. */
  readonly function_call?: WireToolCall["function"];
}

/** A part of the content, which Mistral sends for models that think or cite. */
export interface WireContentPart {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string | readonly WireContentPart[];
  readonly signature?: string | null;
}

/** Cost that a server reports. */
export interface WireCost {
  /** Cost at OpenRouter, in US dollars. */
  readonly cost?: number | null;
  /** Whether the user's key for the provider behind OpenRouter was used, which charges the user too. */
  readonly is_byok?: boolean | null;
  readonly cost_details?: {
    /** Cost at the provider behind OpenRouter, in US dollars. */
    readonly upstream_inference_cost?: number | null;
  } | null;
  /** Cost at xAI, in units of 1e-10 US dollars. */
  readonly cost_in_usd_ticks?: number | null;
}

/** Token counts. */
export interface WireUsage extends WireCost {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly total_tokens?: number;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly cache_write_tokens?: number | null;
    /** Cache writes at LiteLLM. */
    readonly cache_creation_tokens?: number | null;
  } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
  /** Cache reads at DeepSeek. */
  readonly prompt_cache_hit_tokens?: number | null;
  /** Cache reads at Moonshot. */
  readonly cached_tokens?: number | null;
  /** Tier that served the request at Mistral: `standard` or `priority`. */
  readonly service_tier?: string | null;
}

/** New content of one choice. */
export interface WireChoice {
  readonly index?: number;
  readonly delta?: WireDelta | null;
  /** The complete reply, in place of deltas. */
  readonly message?: WireDelta | null;
  readonly finish_reason?: string | null;
  /** Usage at Moonshot. */
  readonly usage?: WireUsage | null;
  /** Failure of the server behind OpenRouter. */
  readonly error?: unknown;
  /** Results of the content filters of Azure, by category. */
  readonly content_filter_results?: Readonly<Record<string, unknown>> | null;
}

/** One event of a stream. */
export type WireChunk = JsonObject & {
  readonly id?: string | null;
  readonly choices?: readonly WireChoice[] | null;
  readonly usage?: WireUsage | null;
  /** Usage and errors at Groq. */
  readonly x_groq?: (JsonObject & { readonly usage?: WireUsage | null }) | null;
  readonly error?: unknown;
  /** Tier that served the request at OpenAI. */
  readonly service_tier?: string | null;
  /** URLs of the sources at xAI and Perplexity. */
  readonly citations?: unknown;
};
