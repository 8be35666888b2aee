/**
 * Gemini's `streamGenerateContent` on the wire: only what we send, and what we read.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json.ts";

/** A piece of arguments that are streamed; Vertex AI sends such pieces when asked to. */
export interface WirePartialArg {
  /** Where it belongs: `$.path.to[0].value`. */
  readonly jsonPath?: string;
  /** A text, or the next piece of one. */
  readonly stringValue?: string;
  readonly numberValue?: number;
  readonly boolValue?: boolean;
  readonly nullValue?: unknown;
}

/** A function call: whole, or a piece of one. */
export interface WireFunctionCall {
  readonly id?: string;
  /** Left out in all pieces but the first. */
  readonly name?: string;
  readonly args?: unknown;
  readonly partialArgs?: readonly WirePartialArg[] | null;
  /** Whether more pieces follow. */
  readonly willContinue?: boolean;
}

/** A part of a message: text, thought, function call, function response, image, or an item of Google's own. */
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

/** Token counts, cumulative. */
export interface WireUsage {
  /** Cached tokens included. */
  readonly promptTokenCount?: number;
  readonly cachedContentTokenCount?: number;
  /** Without thoughts. */
  readonly candidatesTokenCount?: number;
  readonly thoughtsTokenCount?: number;
  /** What Google's own tools added to the prompt. */
  readonly toolUsePromptTokenCount?: number;
  readonly totalTokenCount?: number;
}

/** One of the replies. */
export interface WireCandidate {
  readonly index?: number;
  readonly content?: { readonly parts?: readonly WirePart[] | null } | null;
  readonly finishReason?: string | null;
  readonly finishMessage?: string | null;
}

/** One event of a stream. */
export interface WireChunk {
  readonly candidates?: readonly WireCandidate[] | null;
  readonly promptFeedback?: {
    readonly blockReason?: string | null;
    readonly blockReasonMessage?: string | null;
  } | null;
  readonly usageMetadata?: WireUsage | null;
  readonly error?: unknown;
}
