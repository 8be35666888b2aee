/**
 * How a history becomes what the model sees.
 *
 * @module
 */

import type { AgentMessage, LlmMessage } from "./message.ts";
import type { ModelSpec } from "./model.ts";
import type { AgentTool } from "./tool.ts";
import type { Cost, Usage } from "./usage.ts";

/** An immutable snapshot of what a run works on. */
export interface AgentContext {
  /** The system prompt; empty for none. */
  readonly systemPrompt: string;
  /** The history. */
  readonly messages: readonly AgentMessage[];
  /** The tools. */
  readonly tools: readonly AgentTool[];
}

/**
 * Turns one message into what the provider gets, or `null` to leave it out. Pure: results are kept per
 * message and the function is not asked twice.
 */
export type ConvertToLlm = (message: AgentMessage) => LlmMessage | null | undefined;

/** What a {@linkcode TransformContext} is told besides the messages. */
export interface TransformInput {
  /** Whether the provider has just refused this context as too long. */
  readonly overflow: boolean;
  /** The model that will be asked. */
  readonly model: ModelSpec;
  /** The system prompt, which takes room as well. */
  readonly systemPrompt: string;
  /** The tools, whose descriptions take room as well. */
  readonly tools: readonly AgentTool[];
  /** Fires when the run is aborted. */
  readonly signal: AbortSignal;
  /** The {@linkcode TransformOutput}'s `firstTrusted` of the transform that made these messages. Default: 0. */
  readonly firstTrusted?: number;
}

/** What a compaction did, as told by `context_compacted`. */
export interface CompactionReport {
  /** How many messages were left out of the request. */
  readonly droppedCount: number;
  /** Estimated tokens before. */
  readonly tokensBefore: number;
  /** Estimated tokens after. */
  readonly tokensAfter: number;
  /** The messages that were left out, custom ones excepted. */
  readonly droppedMessages?: readonly LlmMessage[];
  /** The summary that stands for them, where one was written. */
  readonly summary?: string;
  /** Why no summary was written, where one was wanted. */
  readonly problem?: string;
  /** Tokens that writing the summary took; they count as the run's own. */
  readonly usage?: Usage;
  /** What writing the summary cost. */
  readonly cost?: Cost;
}

/** What a {@linkcode TransformContext} answers. */
export type TransformOutput =
  | readonly AgentMessage[]
  | {
    readonly messages: readonly AgentMessage[];
    readonly report?: CompactionReport;
    /** Position from which the usage of replies describes these messages; earlier replies answered a longer request. */
    readonly firstTrusted?: number;
  };

/**
 * Chooses which messages the next request carries: prunes, summarises, adds. What it leaves out is left out
 * of the request only; the history keeps everything. May throw: the turn then ends with an error.
 */
export type TransformContext = (
  messages: readonly AgentMessage[],
  input: TransformInput,
) => TransformOutput | Promise<TransformOutput>;

/** The default {@linkcode ConvertToLlm}: everything but custom messages. */
export function omitCustomMessages(message: AgentMessage): LlmMessage | null {
  return message.role === "custom" ? null : message;
}
