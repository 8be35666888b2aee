/**
 * OpenAI's chat completions on the wire, as OpenAI and the servers after its model write them: only what we read.
 *
 * Nothing is certain to be there, and what is there may be of another type than OpenAI's.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json.ts";

/** A message of a request. */
export type WireMessage = JsonObject & { readonly role: string };

/** A piece of a tool call. */
export interface WireToolCall {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: {
    readonly name?: string | null;
    readonly arguments?: unknown;
  } | null;
}

/** A piece of reasoning as OpenRouter describes it. */
export type WireReasoningDetail = JsonObject & { readonly type?: string };

/** What is new in a reply. */
export interface WireDelta {
  readonly content?: string | readonly WireContentPart[] | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_details?: readonly WireReasoningDetail[] | null;
  readonly tool_calls?: readonly WireToolCall[] | null;
}

/** Content in parts, as Mistral sends it when a model thinks. */
export interface WireContentPart {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string | readonly WireContentPart[];
  readonly signature?: string | null;
}

/** Token counts. */
export interface WireUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly total_tokens?: number;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly cache_write_tokens?: number | null;
  } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
  /** DeepSeek's count of cached tokens. */
  readonly prompt_cache_hit_tokens?: number | null;
  /** OpenRouter's price, in US dollars. */
  readonly cost?: number | null;
  /** xAI's price, in ten-billionths of a US dollar. */
  readonly cost_in_usd_ticks?: number | null;
}

/** What is new in one of the replies. */
export interface WireChoice {
  readonly index?: number;
  readonly delta?: WireDelta | null;
  readonly finish_reason?: string | null;
  /** What Azure's filters found, by kind. */
  readonly content_filter_results?: Readonly<Record<string, unknown>> | null;
}

/** One event of a stream. */
export interface WireChunk {
  readonly object?: string;
  readonly choices?: readonly WireChoice[] | null;
  readonly usage?: WireUsage | null;
  /** Where Groq puts the usage. */
  readonly x_groq?: { readonly usage?: WireUsage | null } | null;
  readonly error?: unknown;
}
