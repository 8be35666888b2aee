/**
 * Types of Anthropic's Messages API, limited to the fields that the adapter writes or reads.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import { readObject } from "../kit/stream/wire_values.ts";
import type { Turn } from "./turns.ts";

/** Type prefix of the extension blocks that store Anthropic's own items. */
export const EXTENSION_PREFIX = "anthropic.";

/** Marks the end of a cached prefix. */
export interface CacheControl {
  readonly type: "ephemeral";
  readonly ttl?: "1h";
}

/** A block of a request. */
export type WireBlock = JsonObject & { readonly type: string };

/** Whether a value is a block. */
export function isWireBlock(value: unknown): value is WireBlock {
  return isJsonObject(value) && typeof value["type"] === "string";
}

/**
 * Returns an object that the API always sends.
 *
 * @throws {TypeError} When it is missing or of another type.
 */
export function requireObject<Value extends object>(value: Value): Value {
  const object = readObject(value);
  if (object) return object;
  throw new TypeError("Expected an object");
}

/** A message of a request. */
export type WireMessage = Turn<WireBlock>;

/** The container in which the provider executes code. */
export interface WireContainer {
  readonly id?: unknown;
  /** Date and time. */
  readonly expires_at?: unknown;
}

/** Cumulative token counts; later ones replace earlier ones. */
export interface WireUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  /** Cache writes by duration. */
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens?: number;
    readonly ephemeral_1h_input_tokens?: number;
    readonly [duration: string]: number | undefined;
  } | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number } | null;
  /** Tier that served the request: `standard` or `priority`. */
  readonly service_tier?: string | null;
  /** Speed of the reply: `standard` or `fast`. */
  readonly speed?: string | null;
  /** Region that served the request: `global`, `us` or `not_available`. */
  readonly inference_geo?: string | null;
  readonly server_tool_use?: { readonly web_search_requests?: number } | null;
  /** Counts by model call within the request; the other counts are the sum of those of type `message`. */
  readonly iterations?: readonly WireIteration[] | null;
}

/** Token counts of one model call within a request. */
export interface WireIteration
  extends Omit<WireUsage, "iterations" | "server_tool_use" | "service_tier" | "speed"> {
  /** `message`, `compaction`, `advisor_message` or `fallback_message`. */
  readonly type?: string;
}

/** The start of a block. */
export type WireBlockStart = JsonObject & {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly data?: string;
  readonly citations?: readonly WireCitation[] | null;
};

/** A source that a text cites: a web page, a search result or a document. */
export type WireCitation = JsonObject & {
  readonly type: string;
  readonly cited_text?: string | null;
  readonly url?: string | null;
  readonly source?: string | null;
  readonly title?: string | null;
  readonly document_index?: number;
  readonly document_title?: string | null;
};

/** The next part of a block. */
export type WireDelta =
  | { readonly type: "text_delta"; readonly text: string }
  | { readonly type: "thinking_delta"; readonly thinking: string }
  | { readonly type: "input_json_delta"; readonly partial_json: string }
  | WireBlockDelta;

/** The next part of what a block stores until its end. */
export type WireBlockDelta =
  | { readonly type: "signature_delta"; readonly signature: string }
  | ({ readonly type: "compaction_delta" } & JsonObject)
  | { readonly type: "citations_delta"; readonly citation: WireCitation };

/** The start of a message. */
export interface WireMessageStart {
  readonly id?: string;
  readonly usage?: WireUsage;
  readonly container?: WireContainer | null;
}

/** Changes at the end of a message. */
export interface WireMessageDelta {
  readonly stop_reason?: string | null;
  readonly stop_details?: { readonly explanation?: string | null } | null;
  readonly container?: WireContainer | null;
}

/** An event of the stream. */
export type WireEvent =
  | { readonly type: "message_start"; readonly message: WireMessageStart }
  | {
    readonly type: "content_block_start";
    readonly index: number;
    readonly content_block: WireBlockStart;
  }
  | { readonly type: "content_block_delta"; readonly index: number; readonly delta: WireDelta }
  | { readonly type: "content_block_stop"; readonly index: number }
  | {
    readonly type: "message_delta";
    readonly delta: WireMessageDelta;
    readonly usage?: WireUsage;
  }
  | { readonly type: "message_stop" }
  | { readonly type: "error"; readonly error: unknown }
  | { readonly type: "ping" };
