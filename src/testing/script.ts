/**
 * What a scripted model answers: replies, failures and silences as values.
 *
 * @module
 */

import { BlockWriter } from "../core/block_writer.ts";
import type { ExtensionBlock, TextBlock, ThinkingBlock, ToolCallBlock } from "../core/content.ts";
import { type AgentErrorCode, type AgentErrorOptions, createAgentError } from "../core/errors.ts";
import type { StopReason } from "../core/model.ts";
import type { AssistantMessageEvent, StreamRequest } from "../core/stream.ts";
import { type Cost, type Usage, zeroUsage } from "../core/usage.ts";

/** A block that a model can answer with. */
export type ReplyBlock = TextBlock | ThinkingBlock | ToolCallBlock | ExtensionBlock;

/** What a model says: one text, or blocks. */
export type ReplyContent = string | readonly ReplyBlock[];

/** How a {@linkcode reply} ends. */
export interface ReplyOptions {
  /** Why the model stopped. Default: `"tool_use"` when it calls a tool, else `"stop"`. */
  readonly stopReason?: Extract<StopReason, "stop" | "length" | "tool_use">;
  /** Tokens of the reply. Default: none. */
  readonly usage?: Usage;
  /** What the provider says it cost. Default: it says nothing. */
  readonly cost?: Cost;
}

/** How a {@linkcode fail} goes. */
export interface FailOptions extends AgentErrorOptions {
  /** What the model says before it fails. Default: nothing. */
  readonly after?: ReplyContent;
  /** Tokens that were used all the same. */
  readonly usage?: Usage;
  /** How often structured output was tried; for `structured_output_failed`. */
  readonly attempts?: number;
  /** Why the last structured output was refused; for `structured_output_failed`. */
  readonly lastError?: string;
}

/** How a {@linkcode hang} goes. */
export interface HangOptions {
  /** What the model says before it falls silent. Default: nothing. */
  readonly after?: ReplyContent;
  /** Whether an abort changes nothing: the contract is broken. Default: `false`. */
  readonly ignoresSignal?: boolean;
}

/** One answer of a scripted model; `reply`, `fail`, `hang` and `endWithoutTerminal` make them. */
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

/** What one model call plays: an answer, or events as they are, legal or not. */
export type ScriptedEvents =
  | ScriptedAnswer
  | readonly AssistantMessageEvent[]
  | AsyncIterable<AssistantMessageEvent>;

/** What one model call answers; a function gets to see the request first. */
export type ScriptedStep =
  | ScriptedEvents
  | ((request: StreamRequest) => ScriptedEvents | Promise<ScriptedEvents>);

/** The model answers. Texts arrive word by word, arguments in pieces of sixteen characters. */
export function reply(content: ReplyContent, options: ReplyOptions = {}): ScriptedAnswer {
  return { type: "reply", content, options };
}

/** The model call fails, at once or after it has said something. */
export function fail(
  code: AgentErrorCode,
  message: string,
  options: FailOptions = {},
): ScriptedAnswer {
  return { type: "fail", code, message, options };
}

/** The model falls silent, in the middle of its last block, until the call is aborted. */
export function hang(options: HangOptions = {}): ScriptedAnswer {
  return { type: "hang", options };
}

/** The stream closes in the middle of a block, with neither `done` nor `error`: the contract is broken. */
export function endWithoutTerminal(after: ReplyContent = ""): ScriptedAnswer {
  return { type: "end_without_terminal", after };
}

/**
 * Writes an answer as events.
 *
 * @param newId Names a tool call that has no id.
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
  const { stopReason = hasCalls ? "tool_use" : "stop", usage = zeroUsage(), cost } = options;
  writeContent(writer, blocks, { newId, leavesRawCallsOpen: stopReason === "length" });
  writer.finish({ stopReason, usage, cost });
}

interface ContentOptions {
  readonly newId: () => string;
  /** The last block is not closed: something happens in the middle of it. */
  readonly leavesLastOpen?: boolean;
  /** Calls whose arguments were given as text are not closed: they were cut. */
  readonly leavesRawCallsOpen?: boolean;
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

/** A block that is nothing but its signature is a block all the same; one without both is none. */
function closeBlock(writer: BlockWriter, block: TextBlock | ThinkingBlock): void {
  if (block.signature === undefined) return writer.closeTextOrThinking();
  if (block.type === "text") return writer.closeText({ signature: block.signature });
  writer.closeThinking({ signature: block.signature, redacted: block.redacted });
}

function openToolCall(
  writer: BlockWriter,
  id: string,
  { name, arguments: args, partialJson }: ToolCallBlock,
): number {
  const contentIndex = writer.openToolCall(id, name);
  for (const piece of splitChunks(partialJson ?? JSON.stringify(args))) {
    writer.writeToolArguments(contentIndex, piece);
  }
  return contentIndex;
}

function toBlocks(content: ReplyContent): readonly ReplyBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function splitWords(text: string): readonly string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

function splitChunks(text: string): readonly string[] {
  return text.match(/[^]{1,16}/gu) ?? [];
}
