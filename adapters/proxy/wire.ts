/**
 * Types of the proxy protocol.
 *
 * The agent posts a {@linkcode ProxyRequest} as JSON; the proxy responds with server-sent events, each a
 * {@linkcode ProxyEvent} as JSON. No event contains the message so far; the client assembles it.
 *
 * @module
 */

import type { AgentErrorRecord } from "../../src/core/errors/errors.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import type { ModelSpec, StopReason } from "../../src/core/models/model.ts";
import type { Usage } from "../../src/core/models/usage.ts";
import type {
  AssistantMessageEvent,
  StreamDoneEvent,
  StreamErrorEvent,
  StreamOptions,
  ToolSpec,
} from "../../src/core/streams/stream.ts";

/** A model call, sent by the agent. */
export interface ProxyRequest {
  /** The requested model. */
  readonly model: ModelSpec;
  /** The system prompt; empty for none. */
  readonly systemPrompt: string;
  /** The conversation. */
  readonly messages: readonly LlmMessage[];
  /** The tools that the model may call. */
  readonly tools: readonly ToolSpec[];
  /** The stream options, without the key: the token for the proxy is sent in the authorization header. */
  readonly options: Omit<StreamOptions, "apiKey">;
}

/** The end of a complete reply. */
export interface ProxyDoneEvent extends StreamDoneEvent {
  /** Why the model stopped. */
  readonly stopReason: Extract<StopReason, "stop" | "length" | "tool_use">;
}

/** The end of a failed reply. */
export interface ProxyErrorEvent {
  readonly type: "error";
  /** Whether the model call failed or was aborted. */
  readonly stopReason: "error" | "aborted";
  /** The error as JSON. */
  readonly error: AgentErrorRecord;
  /** Tokens used before the failure. Default: unknown. */
  readonly usage?: Usage;
}

/** An event of the proxy's response. */
export type ProxyEvent =
  | Exclude<AssistantMessageEvent, StreamDoneEvent | StreamErrorEvent>
  | ProxyDoneEvent
  | ProxyErrorEvent;
