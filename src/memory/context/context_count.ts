/**
 * How many tokens a request takes: what the provider said of the last one, and an estimate of what was added.
 *
 * @module
 */

import type { AgentMessage, AssistantMessage } from "../../core/message.ts";
import { estimateTextTokens, estimateTokens, estimateToolTokens } from "../../core/tokens.ts";
import type { ToolSpec } from "../../core/stream.ts";
import type { Usage } from "../../core/usage.ts";
import type { CountTokens, HistoryRange } from "./message_groups.ts";

/** A request, as far as it takes room. */
export interface CountedRequest {
  /** Its messages. */
  readonly messages: readonly AgentMessage[];
  /** Its system prompt. */
  readonly systemPrompt: string;
  /** Its tools. */
  readonly tools: readonly ToolSpec[];
}

/** Options of {@linkcode countContext}. */
export interface CountOptions {
  /** Replies before this position answered another request, and their usage tells nothing. Default: 0. */
  readonly firstTrusted?: number;
  /** Estimates a message. Default: {@linkcode estimateTokens}. */
  readonly countTokens?: CountTokens;
}

/** The tokens of a request. */
export interface ContextCount {
  /** All of them. */
  readonly used: number;
  /** Those that the provider itself has counted. */
  readonly reported: number;
  /** Those that are estimated. */
  readonly estimated: number;
}

/** Providers whose chat interfaces tell reasoning tokens, and never take the reasoning back. */
const PROVIDERS_DROPPING_REASONING = new Set(["openai", "azure"]);
/** How far a count may be from a multiple of another to pass for that multiple. */
const MULTIPLE_TOLERANCE = 0.1;

/** Counts what the next request takes. */
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
  const told = getReportedTokens(
    reply,
    toSinglePrompt(getPromptTokens(reply.usage), expected),
    countTokens,
  );
  const estimated = estimateMessages(messages.slice(position + 1), countTokens);
  return { used: told + estimated, reported: told, estimated };
}

/** Estimates a whole request. */
export function estimateContext(
  { messages, systemPrompt, tools }: CountedRequest,
  countTokens: CountTokens = estimateTokens,
): number {
  return estimateTextTokens(systemPrompt) + estimateToolTokens(tools) +
    estimateMessages(messages, countTokens);
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
    if (reply?.role === "assistant" && getPromptTokens(reply.usage) > 0) return { position, reply };
  }
  return undefined;
}

function getPromptTokens({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite;
}

/**
 * The prompt of one attempt. Attempts that failed count into a reply's usage, so that a prompt may be in it
 * twice or more; it then is about a multiple of what was to be expected.
 */
function toSinglePrompt(prompt: number, expected: number | undefined): number {
  if (expected === undefined || expected === 0) return prompt;
  const attempts = Math.round(prompt / expected);
  const isMultiple = attempts >= 2 &&
    Math.abs(prompt / expected - attempts) <= MULTIPLE_TOLERANCE * attempts;
  return isMultiple ? prompt / attempts : prompt;
}

/** A prompt and what its reply adds to the next one. */
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
