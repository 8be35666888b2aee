/**
 * Conversations in the structure that Anthropic's API and Bedrock require.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json/json.ts";
import type { ContentBlock, TextBlock } from "../../src/core/messages/content.ts";
import type { LlmMessage, ToolResultMessage } from "../../src/core/messages/message.ts";
import type { ModelSpec } from "../../src/core/models/model.ts";
import { CONTINUE, getTextAndMedia, isOwnReply, MISSING_PROMPT } from "../kit/request/history.ts";
import type { MediaBlock } from "../kit/request/media.ts";
import { Omissions } from "../kit/request/omissions.ts";
import type { WarningSink } from "../kit/request/warnings.ts";

/** A message of a request. */
export interface Turn<Block extends JsonObject> {
  readonly role: "user" | "assistant";
  readonly content: Block[];
}

/** Conversion of content to the blocks of an API. */
export interface BlockFormat<Block extends JsonObject> {
  /** Converts the content of a user message; a text becomes a block with the field `text`. */
  toUserBlock(block: TextBlock | MediaBlock): Block;
  /** Converts a tool result. */
  toResult(message: ToolResultMessage): ResultBlocks<Block>;
  /** Converts the content of a reply, if the API accepts it; `isOwn` is whether the requested model created it. */
  toReplyBlock(block: ContentBlock, isOwn: boolean): Block | undefined;
  /** Whether a block is thinking, readable or redacted. */
  isThinking(block: Block | undefined): boolean;
  /** Returns the blocks of a reply without calls of server tools that lack a result, and results that lack a call. */
  omitLostCalls(blocks: readonly Block[]): Block[];
}

/** A tool result, and the content that its block must not have. */
export interface ResultBlocks<Block> {
  readonly result: Block;
  /** Follow the results of all calls of a reply. */
  readonly attachments: readonly Block[];
}

/** Options for `toTurns()`. */
export interface TurnsOptions {
  /** The requested model. */
  readonly model: ModelSpec;
  /** Whether the model can continue a reply that ends the conversation. */
  readonly prefill: boolean;
  /** Receives a warning about omitted content. */
  readonly sink: WarningSink;
}

/** Number of user messages with a cache mark: the newest, and the one that the previous request marked. */
export const CACHED_MESSAGES = 2;

/** Converts a conversation: roles alternate, and tool results come first in the message after their calls. */
export function toTurns<Block extends JsonObject>(
  messages: readonly LlmMessage[],
  { model, prefill, sink }: TurnsOptions,
  format: BlockFormat<Block>,
): Turn<Block>[] {
  const createUserTurn = (text: string): Turn<Block> => ({
    role: "user",
    content: [format.toUserBlock({ type: "text", text })],
  });
  const turns: Turn<Block>[] = [];
  let attachments: Block[] = [];
  const omissions = new Omissions();
  for (const message of messages) {
    if (message.role === "tool_result") {
      const converted = format.toResult(message);
      attachments.push(...converted.attachments);
      append(turns, { role: "user", content: [converted.result] });
      continue;
    }
    append(turns, { role: "user", content: attachments });
    attachments = [];
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = toBlocks(message, { model, format, omissions });
    const continuesReply = role === "assistant" && turns.at(-1)?.role === "assistant";
    // The request for this reply had the same prompt at its end, which the provider has cached.
    if (continuesReply && content.length > 0 && !prefill) turns.push(createUserTurn(CONTINUE));
    append(turns, { role, content });
  }
  append(turns, { role: "user", content: attachments });
  omissions.report(sink);
  if (turns[0]?.role !== "user") turns.unshift(createUserTurn(MISSING_PROMPT));
  const last = turns.at(-1);
  if (last?.role !== "assistant") return turns;
  if (prefill) trimEnd(last.content);
  else turns.push(createUserTurn(CONTINUE));
  return turns;
}

/** Returns the newest user messages, whose ends are marked for the cache. */
export function findCachedTurns<Block extends JsonObject>(
  turns: readonly Turn<Block>[],
  count = CACHED_MESSAGES,
): readonly Turn<Block>[] {
  const prompts = turns.filter(({ role }) => role === "user");
  return prompts.slice(Math.max(0, prompts.length - count));
}

const LOST_ITEMS = "The history has items of server tools that cannot be sent back";

function append<Block extends JsonObject>(turns: Turn<Block>[], turn: Turn<Block>): void {
  const last = turns.at(-1);
  if (turn.content.length === 0) return;
  if (last?.role === turn.role) last.content.push(...turn.content);
  else turns.push(turn);
}

interface BlocksOptions<Block extends JsonObject> {
  readonly model: ModelSpec;
  readonly format: BlockFormat<Block>;
  readonly omissions: Omissions;
}

function toBlocks<Block extends JsonObject>(
  message: Exclude<LlmMessage, ToolResultMessage>,
  { model, format, omissions }: BlocksOptions<Block>,
): Block[] {
  switch (message.role) {
    case "user":
      return getTextAndMedia(message.content).map((block) => format.toUserBlock(block));
    case "assistant": {
      const isOwn = isOwnReply(message, model);
      const converted = message.content.map((block) => format.toReplyBlock(block, isOwn))
        .filter((block) => block !== undefined);
      const blocks = format.omitLostCalls(converted);
      const omitted = converted.length - blocks.length;
      for (let count = 0; count < omitted; count++) omissions.add("content_left_out", LOST_ITEMS);
      // The API refuses a reply that ends with thinking, such as one that was cut off while thinking.
      while (format.isThinking(blocks.at(-1))) blocks.pop();
      return blocks;
    }
  }
}

/** Removes white space at the end of a reply, which the API refuses to continue. */
function trimEnd<Block extends JsonObject>(content: Block[]): void {
  const last = content.at(-1);
  const text = last?.["text"];
  if (last && typeof text === "string") {
    content[content.length - 1] = { ...last, text: text.trimEnd() };
  }
}
