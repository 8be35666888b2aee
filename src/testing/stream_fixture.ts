/**
 * Fixtures for the tests of stream functions.
 *
 * @module
 */

import { type AgentErrorCode, BadRequestError } from "../core/errors/errors.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { ModelSpec, StopReason } from "../core/models/model.ts";
import type { Usage } from "../core/models/usage.ts";
import type { StreamFn } from "../core/streams/stream.ts";

/** Registers a test with the runner: `Deno.test`, or `test` of `node:test`. */
export type RegisterTest = (name: string, test: () => void | Promise<void>) => unknown;

/**
 * Checks the function that registers tests.
 *
 * @throws {BadRequestError} If it is no function.
 */
export function checkRegisterTest(test: unknown): void {
  if (typeof test === "function") return;
  throw new BadRequestError("Pass the function of the test runner, such as Deno.test");
}

/** Time limits that the tests set. */
export interface StreamFnLimits {
  /** Longest wait for the status and headers of a response, in milliseconds. */
  readonly connectTimeoutMs?: number | undefined;
  /** Longest pause between chunks of a response, in milliseconds. */
  readonly idleTimeoutMs?: number | undefined;
}

/** Creates the stream function under test, which must send its requests with `fetch`. */
export type StreamFnFactory = (fetch: typeof globalThis.fetch, limits: StreamFnLimits) => StreamFn;

/** Expected parts of a reply; a missing part is not checked, except that a missing error means success. */
export interface ExpectedReply {
  /** The text of all blocks. */
  readonly text?: string | undefined;
  /** The thinking of all blocks. */
  readonly thinking?: string | undefined;
  /** All tool calls, in order. */
  readonly calls?: readonly { readonly name: string; readonly arguments: JsonObject }[] | undefined;
  /** Stop reason of the last event. */
  readonly stopReason?: StopReason | undefined;
  /** The token counts to check. */
  readonly usage?: Partial<Usage> | undefined;
  /** Code of the error that the reply ends with. Default: none. */
  readonly errorCode?: AgentErrorCode | undefined;
}

/** A streamed response and the expected reply. */
export interface ReplyFixture {
  /** Name of the fixture, which follows a verb in test titles: `text` in `reads text in one chunk`. */
  readonly name: string;
  /** The response body as sent by the provider. */
  readonly body: string | Uint8Array;
  /** Content type of the response. Default: `text/event-stream`. */
  readonly contentType?: string | undefined;
  /** The reply that the body must give. */
  readonly expect: ExpectedReply;
}

/** An error response and the expected error. */
export interface ErrorFixture {
  /** Name of the fixture, which follows a verb in test titles: `a rate limit` in `reports a rate limit`. */
  readonly name: string;
  /** HTTP status. */
  readonly status: number;
  /** Response headers. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Response body. */
  readonly body: string;
  /** The error that the reply must end with. */
  readonly expect: {
    readonly code: AgentErrorCode;
    readonly retryable: boolean;
    readonly retryAfterMs?: number | undefined;
  };
}

/** The model and responses to test a stream function with. */
export interface StreamFnFixtures {
  /** Model of the requests. */
  readonly model: ModelSpec;
  /** Streamed responses; at least one without an error. */
  readonly replies: readonly ReplyFixture[];
  /** Error responses. Default: none. */
  readonly errors?: readonly ErrorFixture[] | undefined;
}
