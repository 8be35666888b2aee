/**
 * What travels between an agent and its proxy: the agent's own words as JSON, one event after the other.
 *
 * The agent posts a {@linkcode ProxyRequest}; the proxy answers with server-sent events, each a {@linkcode ProxyEvent}.
 * No event carries the message so far: whoever reads them builds it.
 *
 * @module
 */

import type { AgentErrorCode, AgentErrorRecord } from "../../src/core/errors.ts";
import type { LlmMessage } from "../../src/core/message.ts";
import type { ModelSpec, StopReason } from "../../src/core/model.ts";
import type {
  AssistantMessageEvent,
  StreamDoneEvent,
  StreamErrorEvent,
  StreamOptions,
  ToolSpec,
} from "../../src/core/stream.ts";
import type { Usage } from "../../src/core/usage.ts";
import {
  AUTH,
  BAD_REQUEST,
  type ErrorClassification,
  type ErrorTable,
  FILTERED,
  OVERFLOW,
  THROTTLED,
  UNAVAILABLE,
  UNKNOWN,
  UNKNOWN_MODEL,
} from "../kit/errors/error_table.ts";

/** What an agent asks. */
export interface ProxyRequest {
  /** The model to ask. */
  readonly model: ModelSpec;
  /** The system prompt; empty for none. */
  readonly systemPrompt: string;
  /** The conversation. */
  readonly messages: readonly LlmMessage[];
  /** The tools that the model may call. */
  readonly tools: readonly ToolSpec[];
  /** How it is asked. The key is not among the options: it travels as the bearer token, for the proxy alone. */
  readonly options: Omit<StreamOptions, "apiKey">;
}

/** The reply is complete. */
export interface ProxyDoneEvent extends StreamDoneEvent {
  /** Why the model stopped. */
  readonly stopReason: Extract<StopReason, "stop" | "length" | "tool_use">;
}

/** The reply failed, with the error as JSON. */
export interface ProxyErrorEvent {
  /** Discriminant. */
  readonly type: "error";
  /** Whether it failed or was cancelled. */
  readonly stopReason: "error" | "aborted";
  /** What went wrong. */
  readonly error: AgentErrorRecord;
  /** Tokens that were used all the same, where known. */
  readonly usage?: Usage;
}

/** What a proxy answers with. */
export type ProxyEvent =
  | Exclude<AssistantMessageEvent, StreamDoneEvent | StreamErrorEvent>
  | ProxyDoneEvent
  | ProxyErrorEvent;

const ERRORS_BY_CODE: Partial<Record<AgentErrorCode, ErrorClassification>> = {
  auth_error: AUTH,
  bad_request: BAD_REQUEST,
  content_filtered: FILTERED,
  context_window_overflow: OVERFLOW,
  model_not_found: UNKNOWN_MODEL,
  model_throttled: THROTTLED,
  network_error: UNAVAILABLE,
  stream_error: UNKNOWN,
};

/** A proxy names its refusals by the codes of the one error tree. */
export const PROXY_ERRORS: ErrorTable = { codes: ERRORS_BY_CODE };
