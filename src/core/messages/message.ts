/**
 * The messages of a conversation.
 *
 * @module
 */

import { checkNames } from "../checks/check_names.ts";
import { type AgentErrorCode, BadRequestError, NoMessagesError } from "../errors/errors.ts";
import { ignoreRejections } from "../errors/refuse_promise.ts";
import { ENVELOPE_DEPTH, type JsonObject, MAX_JSON_DEPTH, toJsonValue } from "../json/json.ts";
import type { StopReason } from "../models/model.ts";
import type { Cost, Usage } from "../models/usage.ts";
import { findMessageProblem } from "./check_message.ts";
import type { ContentBlock, ImageBlock } from "./content.ts";

/** Properties of every message. */
export interface MessageAttributes {
  /** Id of the message; every message that a run appends has one. */
  readonly id?: string | undefined;
  /** Data of the application about the message; never sent to the model. */
  readonly metadata?: JsonObject | undefined;
}

/** A message from the user, or from the program on the user's behalf. */
export interface UserMessage extends MessageAttributes {
  readonly role: "user";
  /** Text, image, document, audio and extension blocks. */
  readonly content: readonly ContentBlock[];
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** A reply of the model. */
export interface AssistantMessage extends MessageAttributes {
  readonly role: "assistant";
  /** Text, thinking, tool-call and extension blocks, in the order of the reply. */
  readonly content: readonly ContentBlock[];
  /** Name of the provider, such as `"anthropic"`. */
  readonly provider: string;
  /** The provider's name of the model. */
  readonly modelId: string;
  /** Token counts of the reply, including discarded attempts. */
  readonly usage: Usage;
  /** Cost of the reply, including discarded attempts. */
  readonly cost: Cost;
  /** The reason why the reply ended. */
  readonly stopReason: StopReason;
  /** The error message, if `stopReason` is `"error"` or `"aborted"`. */
  readonly errorMessage?: string;
  /** The error code, if there is one. */
  readonly errorCode?: AgentErrorCode;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** The result of a tool call. */
export interface ToolResultMessage extends MessageAttributes {
  readonly role: "tool_result";
  /** Id of the call. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly toolName: string;
  /** Text, image, document, audio and extension blocks for the model. */
  readonly content: readonly ContentBlock[];
  /** Whether the call failed, was refused or was cancelled. */
  readonly isError: boolean;
  /** Structured data for logs and user interfaces; never sent to the model. */
  readonly details?: unknown;
  /** Tokens that the tool used. Default: none. */
  readonly usage?: Usage;
  /** Cost of the tool. Default: 0. */
  readonly cost?: Cost;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** A message that can be sent to a provider. */
export type LlmMessage = UserMessage | AssistantMessage | ToolResultMessage;

/** A message defined by the application; it reaches the model only through `convertToLlm`. */
export interface CustomMessage extends MessageAttributes {
  readonly role: "custom";
  /** Kind of message, chosen by the application. */
  readonly type: string;
  /** Any JSON value. */
  readonly data: unknown;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** Any message of a history. */
export type AgentMessage = LlmMessage | CustomMessage;

/** Input of `Agent.prompt()` and the queues. A string or `{ text, images }` becomes one user message. */
export type PromptInput =
  | string
  | { readonly text: string; readonly images?: readonly ImageBlock[] }
  | AgentMessage
  | readonly AgentMessage[];

/**
 * Converts prompt input to messages of its own, which share nothing with the input; `timestamp`, in milliseconds since
 * the epoch, is used for messages without one.
 *
 * @throws {BadRequestError} If the input is no prompt, or a message is malformed.
 * @throws {NoMessagesError} If a user message is empty.
 */
export function toAgentMessages(input: PromptInput, timestamp: number): AgentMessage[] {
  const messages = copyMessages(listMessages(input, timestamp));
  if (messages.some(isBlankPrompt)) {
    throw new NoMessagesError("The prompt is empty: pass a text, or blocks that are not blank");
  }
  return withTimestamps(messages, () => timestamp);
}

/**
 * Returns the messages with timestamps, which untyped code may omit.
 *
 * @throws {BadRequestError} If a timestamp is no number.
 */
export function withTimestamps(
  messages: readonly AgentMessage[],
  now: () => number,
): AgentMessage[] {
  return messages.map((message) => {
    if ((message as Partial<AgentMessage>).timestamp === undefined) {
      return { ...message, timestamp: now() };
    }
    checkTimestamp(message.timestamp);
    return message;
  });
}

function checkTimestamp(timestamp: unknown): void {
  if (Number.isFinite(timestamp)) return;
  throw new BadRequestError("Invalid message: its timestamp must be a number");
}

/**
 * Creates a user message with one text block; `timestamp` is in milliseconds since the epoch. Default: the current time.
 *
 * @throws {BadRequestError} If the text is no string, or the timestamp no number.
 *
 * @example
 * ```ts
 * import { userMessage } from "@swink/agent";
 *
 * userMessage("Hello").content; // [{ type: "text", text: "Hello" }]
 * ```
 */
export function userMessage(text: string, timestamp: number = Date.now()): UserMessage {
  const message = { role: "user", content: [{ type: "text", text }], timestamp } as const;
  checkMessages([message]);
  checkTimestamp(timestamp);
  return message;
}

/**
 * Checks the shape of messages that come from untyped code.
 *
 * @throws {BadRequestError} If a value is no message.
 */
export function checkMessages(messages: readonly AgentMessage[]): void {
  const problem = findListProblem(messages);
  if (problem === undefined) return;
  // Promises that a program has forgotten to await.
  ignoreRejections(messages);
  throw new BadRequestError(problem);
}

function findListProblem(messages: unknown): string | undefined {
  if (!Array.isArray(messages)) return "The messages must be an array";
  for (const message of messages) {
    const problem = findMessageProblem(message);
    if (problem) return `Invalid message: ${problem}`;
  }
  return undefined;
}

/**
 * Returns copies of messages that come from untyped code.
 *
 * @throws {BadRequestError} If a value is no message, or is not JSON.
 */
export function copyMessages(messages: readonly AgentMessage[]): AgentMessage[] {
  checkMessages(messages);
  const copy = toJsonValue([...messages], MAX_JSON_DEPTH + ENVELOPE_DEPTH);
  if ("problem" in copy) throw new BadRequestError(`Invalid message: ${copy.problem}`);
  return copy.value as unknown as AgentMessage[];
}

function listMessages(input: PromptInput, timestamp: number): readonly AgentMessage[] {
  if (typeof input === "string") return [userMessage(input, timestamp)];
  if (!input || typeof input !== "object") {
    throw new BadRequestError(
      "Invalid prompt: pass a string, { text, images }, a message or an array of them",
    );
  }
  if (Array.isArray(input)) return input;
  if (!("text" in input)) return [input as AgentMessage];
  checkNames(input, ["text", "images"], "the prompt");
  if (input.images !== undefined && !Array.isArray(input.images)) {
    throw new BadRequestError("Invalid prompt: images must be an array of image blocks");
  }
  const content: ContentBlock[] = [{ type: "text", text: input.text }, ...(input.images ?? [])];
  return [{ role: "user", content, timestamp }];
}

function isBlankPrompt(message: AgentMessage): boolean {
  return message.role === "user" &&
    message.content.every((block) => block.type === "text" && block.text.trim() === "");
}
