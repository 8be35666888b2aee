/**
 * Messages: what a conversation is made of.
 *
 * @module
 */

import type { ContentBlock, ImageBlock } from "./content.ts";
import { type AgentErrorCode, BadRequestError } from "./errors.ts";
import type { StopReason } from "./model.ts";
import type { Cost, Usage } from "./usage.ts";

/** What a person, or the program on their behalf, says to the model. */
export interface UserMessage {
  /** Discriminant. */
  readonly role: "user";
  /** Text, image and extension blocks. */
  readonly content: readonly ContentBlock[];
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** What the model answered. */
export interface AssistantMessage {
  /** Discriminant. */
  readonly role: "assistant";
  /** Text, thinking, tool-call and extension blocks, in the order the model produced them. */
  readonly content: readonly ContentBlock[];
  /** The provider that was asked, for example `"anthropic"`. */
  readonly provider: string;
  /** The model that was asked. */
  readonly modelId: string;
  /** Tokens of this reply, discarded attempts included. */
  readonly usage: Usage;
  /** Cost of this reply. */
  readonly cost: Cost;
  /** Why the model stopped. */
  readonly stopReason: StopReason;
  /** What went wrong, when `stopReason` is `"error"` or `"aborted"`. */
  readonly errorMessage?: string;
  /** The error's code, when there was one. */
  readonly errorCode?: AgentErrorCode;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** What a tool answered. */
export interface ToolResultMessage {
  /** Discriminant. */
  readonly role: "tool_result";
  /** The call that this answers. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly toolName: string;
  /** Text, image and extension blocks for the model. */
  readonly content: readonly ContentBlock[];
  /** Whether the tool failed, was refused or was cancelled. */
  readonly isError: boolean;
  /** Structured facts for logs and displays; never sent to the model. */
  readonly details?: unknown;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** A message that a provider understands. */
export type LlmMessage = UserMessage | AssistantMessage | ToolResultMessage;

/** A message of the application's own; reaches the model only through `convertToLlm`. */
export interface CustomMessage {
  /** Discriminant. */
  readonly role: "custom";
  /** The application's name for this kind of message. */
  readonly type: string;
  /** Any JSON value. */
  readonly data: unknown;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** Any message of a history. */
export type AgentMessage = LlmMessage | CustomMessage;

/** What {@linkcode Agent.prompt} and the queues take. Strings become a user message. */
export type PromptInput =
  | string
  | { readonly text: string; readonly images?: readonly ImageBlock[] }
  | AgentMessage
  | readonly AgentMessage[];

/**
 * Turns prompt input into messages, stamped with the given time in milliseconds.
 *
 * @throws {BadRequestError} When it is none of what a prompt can be.
 */
export function toAgentMessages(input: PromptInput, timestamp: number): AgentMessage[] {
  if (typeof input === "string") return [userMessage(input, timestamp)];
  if (typeof input !== "object" || input === null) {
    throw new BadRequestError(
      "A prompt is a text, { text, images }, a message or a list of messages",
    );
  }
  if (isMessageList(input)) return [...input];
  if ("role" in input) return [input];
  const content: ContentBlock[] = [{ type: "text", text: input.text }, ...(input.images ?? [])];
  return [{ role: "user", content, timestamp }];
}

/** A user message of one text block. */
export function userMessage(text: string, timestamp: number): UserMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp };
}

function isMessageList(input: PromptInput): input is readonly AgentMessage[] {
  return Array.isArray(input);
}
