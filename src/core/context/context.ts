/**
 * Conversion of a history into the context of a model call.
 *
 * @module
 */

import type { StoppedBy } from "../events/stopped_by.ts";
import type { CompactionReport } from "../messages/compaction_report.ts";
import type { AgentMessage, LlmMessage } from "../messages/message.ts";
import type { ModelSpec } from "../models/model.ts";
import type { Cost, Prices, Usage } from "../models/usage.ts";
import type { LlmContext, StreamFn, StreamOptions } from "../streams/stream.ts";
import type { AgentTool } from "../tools/tool.ts";

/** The state that a run starts from; never modified. */
export interface AgentContext<Tool extends AgentTool<never> = AgentTool> {
  /** The system prompt; empty for none. */
  readonly systemPrompt: string;
  /** The history, oldest message first. */
  readonly messages: readonly AgentMessage[];
  /** The tools that the model may call. */
  readonly tools: readonly Tool[];
}

/**
 * Converts a message for the provider; `null` or `undefined` omits it. Must be pure: the result is cached by message
 * object.
 */
export type ConvertToLlm = (message: AgentMessage) => LlmMessage | null | undefined;

/** A model call that a {@linkcode TransformContext} is about to make, such as for a summary. */
export interface TransformRequest {
  /** The model to call. */
  readonly model: ModelSpec;
  /** The input of the model. */
  readonly context: LlmContext;
  /** Options of the call. */
  readonly options: StreamOptions;
  /** Calls the model; its facts about the model are passed to the policies. */
  readonly streamFn: StreamFn;
  /** Prices of models. Default: those of `streamFn`. */
  readonly prices?: Prices | undefined;
  /** Token counts of the calls that the transform has already made for this request. Default: 0. */
  readonly usage?: Usage | undefined;
  /** Their cost. Default: 0. */
  readonly cost?: Cost | undefined;
}

/** Input of a {@linkcode TransformContext} in addition to the messages. */
export interface TransformInput {
  /** Whether the provider rejected the previous context as too long. */
  readonly overflow: boolean;
  /** The model of the request. */
  readonly model: ModelSpec;
  /** The system prompt, which counts towards the context window. */
  readonly systemPrompt: string;
  /** The tools, whose descriptions count towards the context window. */
  readonly tools: readonly AgentTool[];
  /** Aborted when the run is aborted. */
  readonly signal: AbortSignal;
  /**
   * Asks the policies of the run before a model call, and resolves to the one that stops it, if one does: the call must
   * not be made then, and the run ends when the transform has settled. Rejects if it has settled already. Default: no
   * policy checks such calls.
   */
  readonly checkRequest?:
    | ((request: TransformRequest) => Promise<StoppedBy | undefined>)
    | undefined;
  /** `firstTrusted` of the {@linkcode TransformOutput} that these messages come from. Default: 0. */
  readonly firstTrusted?: number | undefined;
  /**
   * Converts the messages for the provider afterwards; a request for a summary has the omitted ones in the same form.
   * Default: custom messages are omitted.
   */
  readonly convertToLlm?: ConvertToLlm | undefined;
}

/** Result of a {@linkcode TransformContext}: the messages, optionally with a report to emit. */
export type TransformOutput =
  | readonly AgentMessage[]
  | {
    readonly messages: readonly AgentMessage[];
    readonly report?: CompactionReport | undefined;
    /**
     * Index of the first message whose reported usage is valid for these messages; earlier replies answered a longer
     * request.
     */
    readonly firstTrusted?: number | undefined;
  };

/**
 * Selects the messages of the next request: prunes, summarizes or adds. The history itself does not change. A function
 * that throws or rejects ends the turn with an error.
 */
export type TransformContext = (
  messages: readonly AgentMessage[],
  input: TransformInput,
) => TransformOutput | Promise<TransformOutput>;

/** Omits custom messages and returns any other message unchanged; the default {@linkcode ConvertToLlm}. */
export function omitCustomMessages(message: AgentMessage): LlmMessage | null {
  return message.role === "custom" ? null : message;
}
