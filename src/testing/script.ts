/**
 * The steps of a scripted model: replies, failures and hanging streams.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import {
  type AgentErrorCode,
  type AgentErrorOptions,
  BadRequestError,
  createAgentError,
} from "../core/errors/errors.ts";
import { findContentProblem } from "../core/messages/check_message.ts";
import type {
  ExtensionBlock,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
} from "../core/messages/content.ts";
import type { StopReason } from "../core/models/model.ts";
import { type Cost, type Usage, zeroUsage } from "../core/models/usage.ts";
import { BlockWriter } from "../core/streams/block_writer.ts";
import type { AssistantMessageEvent, StreamRequest } from "../core/streams/stream.ts";

/** A content block of a scripted reply. */
export type ReplyBlock = TextBlock | ThinkingBlock | ToolCallBlock | ExtensionBlock;

/** Content of a scripted reply: one text, or blocks. */
export type ReplyContent = string | readonly ReplyBlock[];

/** Options for {@linkcode reply}. */
export interface ReplyOptions {
  /** Stop reason of the reply. Default: `"tool_use"` if it calls a tool, else `"stop"`. */
  readonly stopReason?: Extract<StopReason, "stop" | "length" | "tool_use"> | undefined;
  /** Reported usage. Default: zero tokens. */
  readonly usage?: Usage | undefined;
  /** Cost as reported by a provider. Default: not reported. */
  readonly cost?: Cost | undefined;
  /** The provider's id of the reply. Default: none. */
  readonly responseId?: string | undefined;
}

/** Options for {@linkcode fail}. */
export interface FailOptions extends AgentErrorOptions {
  /** Content before the failure. Default: none. */
  readonly after?: ReplyContent | undefined;
  /** Usage of the failed call. Default: not reported. */
  readonly usage?: Usage | undefined;
  /** Number of attempts, for the code `structured_output_failed`. */
  readonly attempts?: number | undefined;
  /** Validation error of the last attempt, for the code `structured_output_failed`. */
  readonly lastError?: string | undefined;
}

/** Options for {@linkcode hang}. */
export interface HangOptions {
  /** Content before the stream hangs. Default: none. */
  readonly after?: ReplyContent | undefined;
  /** Whether the stream keeps hanging after an abort, against the contract. Default: `false`. */
  readonly ignoresSignal?: boolean | undefined;
}

/** One answer of a scripted model, created by `reply()`, `fail()`, `hang()` or `endWithoutTerminal()`. */
export type ScriptedAnswer =
  | { readonly type: "reply"; readonly content: ReplyContent; readonly options: ReplyOptions }
  | {
    readonly type: "fail";
    readonly code: AgentErrorCode;
    readonly message: string;
    readonly options: FailOptions;
  }
  | { readonly type: "hang"; readonly options: HangOptions }
  | { readonly type: "end_without_terminal"; readonly after: ReplyContent };

/** Events of one model call: an answer, or raw events, which are streamed unchecked. */
export type ScriptedEvents =
  | ScriptedAnswer
  | readonly AssistantMessageEvent[]
  | AsyncIterable<AssistantMessageEvent>;

/** One step of a script, for one model call: its events, or a function that is called with the request. */
export type ScriptedStep =
  | ScriptedEvents
  | ((request: StreamRequest) => ScriptedEvents | Promise<ScriptedEvents>);

const REPLY_OPTIONS = ["stopReason", "usage", "cost", "responseId"];
const FAIL_OPTIONS = [
  ...["after", "usage", "attempts", "lastError", "reason", "owner"],
  ...["retryable", "status", "retryAfterMs", "provider", "model", "requestId", "cause"],
];

/**
 * Creates a reply. It streams text word by word, and arguments in chunks of 16 characters.
 *
 * @throws {BadRequestError} If the content is no text and no array of blocks, or an option is unknown.
 */
export function reply(content: ReplyContent, options: ReplyOptions = {}): ScriptedAnswer {
  assertContent(content);
  assertOptions(options, REPLY_OPTIONS, "reply()");
  return { type: "reply", content, options };
}

/** Creates an answer that ends with an error, at once or after some content. */
export function fail(
  code: AgentErrorCode,
  message: string,
  options: FailOptions = {},
): ScriptedAnswer {
  assertOptions(options, FAIL_OPTIONS, "fail()");
  assertContent(options.after ?? "");
  return { type: "fail", code, message, options };
}

/** Creates an answer that hangs within its last block until the call is aborted. */
export function hang(options: HangOptions = {}): ScriptedAnswer {
  assertOptions(options, ["after", "ignoresSignal"], "hang()");
  assertContent(options.after ?? "");
  return { type: "hang", options };
}

/** Creates an answer that closes within its last block without `done` or `error`, against the contract. */
export function endWithoutTerminal(after: ReplyContent = ""): ScriptedAnswer {
  assertContent(after);
  return { type: "end_without_terminal", after };
}

function assertContent(content: unknown): void {
  if (typeof content === "string") return;
  if (!Array.isArray(content)) {
    throw new BadRequestError(
      `A reply must be a text or an array of blocks, not ${describeValue(content)}`,
    );
  }
  const problem = findContentProblem(content);
  if (problem) throw new BadRequestError(`Invalid reply: ${problem}`);
}

function assertOptions(options: object, known: readonly string[], subject: string): void {
  checkObject(options, `The options of ${subject} must be an object`);
  checkNames(options, known, subject);
}

/**
 * Converts an answer to events.
 *
 * @param newId Creates the id of a tool call that has none.
 */
export function toEvents(answer: ScriptedAnswer, newId: () => string): AssistantMessageEvent[] {
  const events: AssistantMessageEvent[] = [];
  const writer = new BlockWriter((event) => events.push(event));
  writer.start();
  switch (answer.type) {
    case "reply":
      writeReply(writer, answer, newId);
      break;
    case "fail": {
      const { code, message, options } = answer;
      writeContent(writer, toBlocks(options.after ?? ""), { newId });
      writer.fail(createAgentError(code, message, options), options.usage);
      break;
    }
    case "hang":
      writeContent(writer, toBlocks(answer.options.after ?? ""), { newId, leavesLastOpen: true });
      break;
    case "end_without_terminal":
      writeContent(writer, toBlocks(answer.after), { newId, leavesLastOpen: true });
      break;
  }
  return events;
}

function writeReply(
  writer: BlockWriter,
  { content, options }: Extract<ScriptedAnswer, { type: "reply" }>,
  newId: () => string,
): void {
  const blocks = toBlocks(content);
  const hasCalls = blocks.some((block) => block.type === "tool_call");
  const { stopReason = hasCalls ? "tool_use" : "stop", usage = zeroUsage(), ...rest } = options;
  writeContent(writer, blocks, { newId, leavesRawCallsOpen: stopReason === "length" });
  writer.finish({ ...rest, stopReason, usage });
}

interface ContentOptions {
  readonly newId: () => string;
  /** Leaves the last block open. */
  readonly leavesLastOpen?: boolean | undefined;
  /** Leaves calls open whose arguments were given as text, because the reply was cut off. */
  readonly leavesRawCallsOpen?: boolean | undefined;
}

function writeContent(
  writer: BlockWriter,
  blocks: readonly ReplyBlock[],
  { newId, leavesLastOpen = false, leavesRawCallsOpen = false }: ContentOptions,
): void {
  blocks.forEach((block, index) => {
    const staysOpen = leavesLastOpen && index === blocks.length - 1;
    switch (block.type) {
      case "text":
        splitWords(block.text).forEach((word) => writer.writeText(word));
        if (!staysOpen) closeBlock(writer, block);
        return;
      case "thinking":
        splitWords(block.thinking).forEach((word) => writer.writeThinking(word));
        if (!staysOpen) closeBlock(writer, block);
        return;
      case "tool_call": {
        const isCut = leavesRawCallsOpen && block.partialJson !== undefined;
        const contentIndex = openToolCall(writer, block.id === "" ? newId() : block.id, block);
        if (!staysOpen && !isCut) writer.closeToolCall(contentIndex, block);
        return;
      }
      case "extension":
        return writer.writeExtension(block.typeName, block.data);
    }
  });
}

/** Closes a block with its signature and citations; a block with a signature is written even if it is empty. */
function closeBlock(writer: BlockWriter, block: TextBlock | ThinkingBlock): void {
  const { type: _type, ...options } = block;
  if (block.signature === undefined) return writer.closeTextOrThinking(options);
  if (block.type === "text") return writer.closeText(options);
  writer.closeThinking(options);
}

function openToolCall(
  writer: BlockWriter,
  id: string,
  { name, arguments: args, partialJson }: ToolCallBlock,
): number {
  const contentIndex = writer.openToolCall(id, name);
  const json = partialJson ?? JSON.stringify(args);
  for (const chunk of json.match(/[^]{1,16}/gu) ?? []) {
    writer.writeToolArguments(contentIndex, chunk);
  }
  return contentIndex;
}

function toBlocks(content: ReplyContent): readonly ReplyBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function splitWords(text: string): readonly string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}
