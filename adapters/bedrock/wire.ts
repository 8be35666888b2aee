/**
 * Bedrock's Converse API on the wire: only what we send, and what we read.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json.ts";

/** A block of a request: an object with one member, which is named after its kind. */
export type WireBlock = JsonObject;

/** A message of a request. */
export interface WireMessage {
  readonly role: "user" | "assistant";
  readonly content: WireBlock[];
}

/** Token counts. */
export interface WireUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly cacheReadInputTokens?: number;
  readonly cacheWriteInputTokens?: number;
}

/** A tool call as it begins; one of type `server_tool_use` runs at the provider. */
export interface WireToolUse {
  readonly toolUseId?: string;
  readonly name?: string;
  readonly type?: string;
}

/** `contentBlockStart` */
export interface WireBlockStart {
  readonly contentBlockIndex: number;
  readonly start?: { readonly toolUse?: WireToolUse; readonly toolResult?: JsonObject };
}

/** A piece of a block. */
export interface WireDelta {
  readonly text?: string;
  readonly toolUse?: { readonly input?: string };
  readonly toolResult?: unknown;
  readonly reasoningContent?: {
    readonly text?: string;
    readonly signature?: string;
    readonly redactedContent?: string;
  };
}

/** `contentBlockDelta` */
export interface WireBlockDelta {
  readonly contentBlockIndex: number;
  readonly delta: WireDelta;
}

/** `contentBlockStop` */
export interface WireBlockStop {
  readonly contentBlockIndex: number;
}

/** `messageStop` */
export interface WireMessageStop {
  readonly stopReason?: string;
}

/** `metadata` */
export interface WireMetadata {
  readonly usage?: WireUsage;
}
