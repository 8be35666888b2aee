/**
 * Types of Google's `streamGenerateContent`, limited to the fields that the adapter writes or reads.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json/json.ts";

/** Type of the extension blocks that store Google-specific parts, such as executed code, searches and images. */
export const GOOGLE_PART = "google.part";

/** A part of streamed arguments; Vertex AI sends these on request. */
export interface WirePartialArg {
  /** Path of the value, as in `$.path.to[0].value`. */
  readonly jsonPath?: string;
  /** A string, or the next part of one. */
  readonly stringValue?: string;
  readonly numberValue?: number;
  readonly boolValue?: boolean;
  readonly nullValue?: unknown;
}

/** A function call, or a part of one. */
export interface WireFunctionCall {
  readonly id?: string;
  /** Present in the first part only. */
  readonly name?: string;
  readonly args?: unknown;
  readonly partialArgs?: readonly WirePartialArg[] | null;
  /** Whether more parts follow. */
  readonly willContinue?: boolean;
}

/** A part of a message: text, thought, function call, function response, image, or a Google-specific item. */
export type WirePart = JsonObject & {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: WireFunctionCall;
};

/** A message of a request. */
export interface WireContent {
  readonly role: "user" | "model";
  readonly parts: readonly WirePart[];
}

/** Cumulative token counts. */
export interface WireUsage {
  /** Includes cached tokens. */
  readonly promptTokenCount?: number;
  readonly cachedContentTokenCount?: number;
  /** Excludes thoughts. */
  readonly candidatesTokenCount?: number;
  readonly thoughtsTokenCount?: number;
  /** Prompt tokens added by Google's own tools. */
  readonly toolUsePromptTokenCount?: number;
  readonly totalTokenCount?: number;
  /** Tokens of the prompt by kind of content. */
  readonly promptTokensDetails?: readonly WireModalityCount[] | null;
  /** Cached tokens by kind of content. */
  readonly cacheTokensDetails?: readonly WireModalityCount[] | null;
  /** Tier that served the request at the Gemini API. */
  readonly serviceTier?: string;
  /** Tier that served the request at Vertex AI, such as `ON_DEMAND_FLEX`. */
  readonly trafficType?: string;
}

/** Tokens of one kind of content, such as `TEXT` or `AUDIO`. */
export interface WireModalityCount {
  readonly modality?: string;
  readonly tokenCount?: number;
}

/** One of the requested replies. */
export interface WireCandidate {
  readonly index?: number;
  readonly content?: { readonly parts?: readonly WirePart[] | null } | null;
  readonly finishReason?: string | null;
  readonly finishMessage?: string | null;
  /** Sources of a search. */
  readonly groundingMetadata?:
    | (JsonObject & {
      readonly webSearchQueries?: readonly unknown[] | null;
      readonly groundingChunks?: readonly JsonObject[] | null;
    })
    | null;
  /** Sources of recited text. */
  readonly citationMetadata?: JsonObject | null;
  /** Pages that the model has read. */
  readonly urlContextMetadata?: JsonObject | null;
}

/** An event of the stream. */
export interface WireChunk {
  readonly responseId?: string | null;
  readonly candidates?: readonly WireCandidate[] | null;
  readonly promptFeedback?: {
    readonly blockReason?: string | null;
    readonly blockReasonMessage?: string | null;
  } | null;
  readonly usageMetadata?: WireUsage | null;
  readonly error?: unknown;
}
