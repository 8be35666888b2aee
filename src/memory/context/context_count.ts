/**
 * Counts the tokens of a request: the provider's count of the last request, and an estimate of what was added.
 *
 * @module
 */

import { type ConvertToLlm, omitCustomMessages } from "../../core/context/context.ts";
import { refusePromise } from "../../core/errors/refuse_promise.ts";
import type { ContentBlock } from "../../core/messages/content.ts";
import type { AgentMessage, AssistantMessage } from "../../core/messages/message.ts";
import type { Usage } from "../../core/models/usage.ts";
import type { ToolSpec } from "../../core/streams/stream.ts";
import {
  estimateTextTokens,
  estimateTokens,
  estimateToolTokens,
} from "../../core/streams/tokens.ts";
import type { CountTokens, HistoryRange } from "./message_groups.ts";

/** The parts of a request that are counted. */
export interface CountedRequest {
  /** The messages. */
  readonly messages: readonly AgentMessage[];
  /** The system prompt. */
  readonly systemPrompt: string;
  /** The tools. */
  readonly tools: readonly ToolSpec[];
}

/** Options for {@linkcode countContext}. */
export interface CountOptions {
  /** Index of the first message whose reported usage is valid for this request. Default: 0. */
  readonly firstTrusted?: number;
  /** Estimates the tokens of a message. Default: {@linkcode estimateTokens}. */
  readonly countTokens?: CountTokens;
}

/** The tokens of a request. */
export interface ContextCount {
  /** Total number of tokens. */
  readonly used: number;
  /** Tokens that the provider counted. */
  readonly reported: number;
  /** Estimated tokens of the other messages. */
  readonly estimated: number;
}

/** Providers that report reasoning tokens, but do not receive the reasoning in later requests. */
const PROVIDERS_DROPPING_REASONING = new Set(["openai", "azure"]);

/** Counts the tokens of the next request. */
export function countContext(
  { messages, systemPrompt, tools }: CountedRequest,
  { firstTrusted = 0, countTokens = estimateTokens }: CountOptions = {},
): ContextCount {
  const last = findLastCounted(messages, { from: firstTrusted, to: messages.length });
  if (!last) {
    const estimated = estimateContext({ messages, systemPrompt, tools }, countTokens);
    return { used: estimated, reported: 0, estimated };
  }
  const { position, reply } = last;
  const reported = getReportedTokens(reply, countTokens);
  const estimated = estimateMessages(messages.slice(position + 1), countTokens);
  return { used: reported + estimated, reported, estimated };
}

/** Estimates the tokens of a complete request. */
export function estimateContext(
  { messages, systemPrompt, tools }: CountedRequest,
  countTokens: CountTokens = estimateTokens,
): number {
  return estimateTextTokens(systemPrompt) + estimateToolTokens(tools) +
    estimateMessages(messages, countTokens);
}

const convertedEstimates = new WeakMap<ConvertToLlm, WeakMap<AgentMessage, number>>();

/** Returns an estimate of messages that counts custom ones as they are converted for the provider. */
export function createTokenCounter(convertToLlm: ConvertToLlm = omitCustomMessages): CountTokens {
  const estimates = convertedEstimates.get(convertToLlm) ?? new WeakMap<AgentMessage, number>();
  convertedEstimates.set(convertToLlm, estimates);
  return (message) => {
    if (message.role !== "custom") return estimateTokens(message);
    const estimate = estimates.get(message) ?? estimateConverted(message, convertToLlm);
    estimates.set(message, estimate);
    return estimate;
  };
}

function estimateConverted(message: AgentMessage, convertToLlm: ConvertToLlm): number {
  try {
    const converted = convertToLlm(message);
    refusePromise(converted, "convertToLlm");
    return converted ? estimateTokens(converted) : 0;
  } catch {
    return estimateTokens(message); // The conversion for the provider reports the error.
  }
}

/** Estimates the tokens of PDFs and audio by their size in bytes, which differs widely for the same number of tokens. */
export function estimateMedia(messages: readonly AgentMessage[]): number {
  let tokens = 0;
  for (const message of messages) {
    if (message.role === "custom") continue;
    const content = message.content.filter((block) => !isUncertain(block));
    if (content.length === message.content.length) continue;
    tokens += estimateTokens(message) - estimateTokens({ ...message, content } as AgentMessage);
  }
  return tokens;
}

function isUncertain(block: ContentBlock): boolean {
  return block.type === "audio" ||
    block.type === "document" && !block.mediaType.startsWith("text/");
}

/** A reply whose usage has the tokens of the prompt that was answered. */
export interface CountedReply {
  /** Position in the history. */
  readonly position: number;
  /** The reply. */
  readonly reply: AssistantMessage;
}

/** Returns the last reply of a part of a history whose request was counted. */
export function findLastCounted(
  messages: readonly AgentMessage[],
  { from, to }: HistoryRange,
): CountedReply | undefined {
  for (let position = to - 1; position >= from; position--) {
    const reply = messages[position];
    if (reply?.role !== "assistant") continue;
    // Untyped code may pass a history without usage.
    const { usage } = reply as Partial<AssistantMessage>;
    if (usage && isReported(usage)) return { position, reply };
  }
  return undefined;
}

/** Whether a usage has the tokens of the prompt that was answered. */
function isReported(usage: Usage): boolean {
  const { input, cacheRead, cacheWrite } = usage;
  return input + cacheRead + cacheWrite > 0 && getRequestTokens(usage) > 0;
}

/**
 * Returns the tokens of a request and its reply, without those of discarded attempts, and of compactions by the provider,
 * which replace a part of the prompt.
 */
export function getRequestTokens(
  { input, output, cacheRead, cacheWrite, extra = {} }: Usage,
): number {
  const { compaction = 0, discarded = 0 } = extra;
  return Math.max(0, input + output + cacheRead + cacheWrite - compaction - discarded);
}

/** Returns the tokens of a request and those that its reply adds to the next one. */
function getReportedTokens(reply: AssistantMessage, countTokens: CountTokens): number {
  const { output, extra } = reply.usage;
  const tokens = getRequestTokens(reply.usage);
  if (output === 0) return tokens + countTokens(reply);
  const reasoning = isReasoningDropped(reply) ? extra?.["reasoning"] ?? 0 : 0;
  return Math.max(0, tokens - Math.min(output, reasoning));
}

function isReasoningDropped({ provider, content }: AssistantMessage): boolean {
  return PROVIDERS_DROPPING_REASONING.has(provider) &&
    !content.some(({ type }) => type === "thinking" || type === "extension");
}

function estimateMessages(messages: readonly AgentMessage[], countTokens: CountTokens): number {
  let tokens = 0;
  for (const message of messages) tokens += countTokens(message);
  return tokens;
}
