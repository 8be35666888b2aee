/**
 * Ollama's `/api/chat` on the wire: only what we send, and what we read.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json.ts";

/** A message of a request. */
export type WireMessage = JsonObject & { readonly role: "system" | "user" | "assistant" | "tool" };

/** A tool call. It comes whole; older servers give it no id, and leave out arguments that are empty. */
export interface WireToolCall {
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null;
}

/** What is new in a reply. */
export interface WireReply {
  readonly content?: string | null;
  readonly thinking?: string | null;
  readonly tool_calls?: readonly WireToolCall[] | null;
}

/** One line of a stream. */
export interface WireChunk {
  readonly message?: WireReply | null;
  readonly done?: boolean;
  readonly done_reason?: string | null;
  /** Tokens of the prompt that were not in the server's cache; left out when there are none. */
  readonly prompt_eval_count?: number;
  readonly eval_count?: number;
  readonly error?: unknown;
}
