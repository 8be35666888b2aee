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
/** Relative deviation at which a count is still treated as a multiple of another. */
const MULTIPLE_TOLERANCE = 0.1;
/** Maximum number of attempts that are looked for: near each larger number there is a multiple, within the tolerance. */
const MAX_ATTEMPTS = 4;

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
  const before = findLastCounted(messages, { from: firstTrusted, to: position });
  const expected = before &&
    getReportedTokens(before.reply, getPromptTokens(before.reply.usage), countTokens) +
      estimateMessages(messages.slice(before.position + 1, position), countTokens);
  const reported = getReportedTokens(
    reply,
    toSinglePrompt(getPromptTokens(reply.usage), expected),
    countTokens,
  );
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

interface CountedReply {
  readonly position: number;
  readonly reply: AssistantMessage;
}

function findLastCounted(
  messages: readonly AgentMessage[],
  { from, to }: HistoryRange,
): CountedReply | undefined {
  for (let position = to - 1; position >= from; position--) {
    const reply = messages[position];
    if (reply?.role !== "assistant") continue;
    // Untyped code may pass a history without usage.
    const { usage } = reply as Partial<AssistantMessage>;
    if (usage && getPromptTokens(usage) > 0) return { position, reply };
  }
  return undefined;
}

/** Returns the tokens of a prompt, without those of compactions by the provider, which replace a part of the prompt. */
function getPromptTokens({ input, cacheRead, cacheWrite, extra }: Usage): number {
  return Math.max(0, input + cacheRead + cacheWrite - (extra?.["compaction"] ?? 0));
}

/**
 * Returns the prompt tokens of one attempt. The usage of a reply includes failed attempts, so it may count the prompt
 * several times; it is then close to a multiple of the expected tokens.
 */
function toSinglePrompt(prompt: number, expected: number | undefined): number {
  if (expected === undefined || expected === 0) return prompt;
  const attempts = Math.round(prompt / expected);
  const isMultiple = attempts >= 2 && attempts <= MAX_ATTEMPTS &&
    Math.abs(prompt / expected - attempts) <= MULTIPLE_TOLERANCE * attempts;
  return isMultiple ? prompt / attempts : prompt;
}

/** Returns the tokens of a prompt and those that its reply adds to the next prompt. */
function getReportedTokens(
  reply: AssistantMessage,
  prompt: number,
  countTokens: CountTokens,
): number {
  const { output, extra } = reply.usage;
  if (output === 0) return prompt + countTokens(reply);
  const reasoning = isReasoningDropped(reply) ? extra?.["reasoning"] ?? 0 : 0;
  return prompt + Math.max(0, output - reasoning);
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
