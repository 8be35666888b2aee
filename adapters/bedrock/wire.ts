/**
 * Types of Bedrock's Converse API, limited to the fields that the adapter writes or reads.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json/json.ts";
import type { Turn } from "../anthropic/turns.ts";

/** Type prefix of the extension blocks that store Bedrock's own items. */
export const EXTENSION_PREFIX = "bedrock.";

/** A block of a request: an object with one member, whose name is the kind of block. */
export type WireBlock = JsonObject;

/** A message of a request. */
export type WireMessage = Turn<WireBlock>;

/** Token counts. */
export interface WireUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly cacheReadInputTokens?: number;
  readonly cacheWriteInputTokens?: number;
  readonly cacheDetails?: readonly { readonly inputTokens?: number; readonly ttl?: string }[];
}

/** The start of a tool call; type `server_tool_use` marks one that the provider runs. */
export interface WireToolUse {
  readonly toolUseId?: string;
  readonly name?: string;
  readonly type?: string;
}

/** The start of a block. */
export interface WireStart {
  readonly toolUse?: WireToolUse;
  readonly toolResult?: JsonObject;
  readonly image?: { readonly format?: string };
}

/** Payload of `contentBlockStart`. */
export interface WireBlockStart {
  readonly contentBlockIndex: number;
  readonly start?: WireStart;
}

/** The next part of a block. */
export interface WireDelta {
  readonly text?: string;
  readonly toolUse?: { readonly input?: string };
  readonly toolResult?: unknown;
  /** The next part of a picture. */
  readonly image?: {
    readonly source?: { readonly bytes?: string };
    readonly error?: { readonly message?: string };
  };
  /** A source that the text cites. */
  readonly citation?: unknown;
  readonly reasoningContent?: {
    readonly text?: string;
    readonly signature?: string;
    readonly redactedContent?: string;
  };
}

/** Payload of `contentBlockDelta`. */
export interface WireBlockDelta {
  readonly contentBlockIndex: number;
  readonly delta: WireDelta;
}

/** Payload of `contentBlockStop`. */
export interface WireBlockStop {
  readonly contentBlockIndex: number;
}

/** Payload of `messageStop`. */
export interface WireMessageStop {
  readonly stopReason?: string;
}

/** Payload of `metadata`. */
export interface WireMetadata {
  readonly usage?: WireUsage;
  /** Tier that served the request. */
  readonly serviceTier?: { readonly type?: string } | null;
  /** Assessment of the guardrail, if the request asks for it. */
  readonly trace?: unknown;
}
