/**
 * What a stream function is tested with.
 *
 * @module
 */

import type { AgentErrorCode } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { ModelSpec, StopReason } from "../core/model.ts";
import type { StreamFn } from "../core/stream.ts";
import type { Usage } from "../core/usage.ts";

/** Registers a test with the runner: `Deno.test`, or `test` of `node:test`. */
export type RegisterTest = (name: string, test: () => void | Promise<void>) => unknown;

/** Time limits under which a stream function is tested, in milliseconds. */
export interface StreamFnLimits {
  /** Longest wait for the head of a response. */
  readonly connectTimeoutMs?: number;
  /** Longest silence within a response. */
  readonly idleTimeoutMs?: number;
}

/** Makes the stream function under test; it must send its requests with `fetch`. */
export type StreamFnFactory = (fetch: typeof globalThis.fetch, limits: StreamFnLimits) => StreamFn;

/** What a reply must come to; what is not named is not looked at. */
export interface ExpectedReply {
  /** All text. */
  readonly text?: string;
  /** All reasoning. */
  readonly thinking?: string;
  /** The tool calls, in order. */
  readonly calls?: readonly { readonly name: string; readonly arguments: JsonObject }[];
  /** Why it stopped. */
  readonly stopReason?: StopReason;
  /** Tokens. */
  readonly usage?: Partial<Usage>;
  /** The error that it ends with. */
  readonly errorCode?: AgentErrorCode;
}

/** A streamed response and what it means. */
export interface ReplyFixture {
  /** Names it in the tests. */
  readonly name: string;
  /** The body, as it goes over the wire. */
  readonly body: string | Uint8Array;
  /** Its content type. Default: `text/event-stream`. */
  readonly contentType?: string;
  /** What it must come to. */
  readonly expect: ExpectedReply;
}

/** A response that refuses, and what it means. */
export interface ErrorFixture {
  /** Names it in the tests. */
  readonly name: string;
  /** Its status. */
  readonly status: number;
  /** Its headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Its body. */
  readonly body: string;
  /** The error that it must become. */
  readonly expect: {
    readonly code: AgentErrorCode;
    readonly retryable: boolean;
    readonly retryAfterMs?: number;
  };
}

/** What a stream function is tested with. */
export interface StreamFnFixtures {
  /** The model to ask. */
  readonly model: ModelSpec;
  /** Streamed responses. At least one must end well. */
  readonly replies: readonly ReplyFixture[];
  /** Responses that refuse. */
  readonly errors?: readonly ErrorFixture[];
}
