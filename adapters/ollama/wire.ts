/**
 * Types of Ollama's `/api/chat`, limited to the fields that the adapter writes or reads.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json/json.ts";

/** A message of a request. */
export type WireMessage = JsonObject & { readonly role: "system" | "user" | "assistant" | "tool" };

/** A complete tool call; older servers omit the id and empty arguments. */
export interface WireToolCall {
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null;
}

/** The next part of a reply. */
export interface WireReply {
  readonly content?: string | null;
  readonly thinking?: string | null;
  /** Pictures of models with image output, in base64. */
  readonly images?: readonly string[] | null;
  readonly tool_calls?: readonly WireToolCall[] | null;
}

/** A line of the stream. */
export interface WireChunk {
  readonly message?: WireReply | null;
  readonly done?: boolean;
  readonly done_reason?: string | null;
  /** Prompt tokens that were not in the server's cache; omitted if there are none. */
  readonly prompt_eval_count?: number;
  readonly eval_count?: number;
  readonly error?: unknown;
}
