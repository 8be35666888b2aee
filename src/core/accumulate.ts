/**
 * Stream events become one message.
 *
 * @module
 */

import type { ContentBlock, ToolCallBlock } from "./content.ts";
import { getErrorMessage, StreamError } from "./errors.ts";
import { isJsonObject, type JsonObject } from "./json.ts";
import type { AssistantMessageEvent, BlockDeltaEvent, BlockEndEvent } from "./stream.ts";
import { TextBuffer } from "./text_buffer.ts";

/** How the arguments of a finished reply's tool call arrived. */
export type ArgumentsState =
  | { readonly type: "complete" }
  | { readonly type: "cut" }
  | { readonly type: "unreadable"; readonly text: string; readonly reason: string };

/** A tool call of a finished reply. */
export interface FinishedCall {
  /** The block, as it stands in the message. */
  readonly block: ToolCallBlock;
  /** Whether its arguments are all there and can be read. */
  readonly state: ArgumentsState;
}

/** What has been accumulated. */
export interface AccumulatedReply {
  /** The blocks, empty ones left out. */
  readonly content: readonly ContentBlock[];
  /** The tool calls among them. */
  readonly calls: readonly FinishedCall[];
}

type TextDraft = {
  readonly type: "text" | "thinking";
  readonly text: TextBuffer;
  open: boolean;
  signature?: string;
  redacted?: boolean;
};
type CallDraft = {
  readonly type: "tool_call";
  readonly id: string;
  readonly name: string;
  readonly text: TextBuffer;
  open: boolean;
  signature?: string;
};
type ExtensionDraft = {
  readonly type: "extension";
  readonly block: ContentBlock;
  readonly open: false;
};
type BlockDraft = TextDraft | CallDraft | ExtensionDraft;

/**
 * Builds one reply out of stream events, in linear time: deltas are appended as text, and a tool call's
 * arguments are parsed once, at the end. Holds the stream to its contract.
 */
export class ReplyAccumulator {
  readonly #blocks: BlockDraft[] = [];
  #characters = 0;
  #ended = false;

  /** Characters of text, reasoning and arguments so far. */
  get characters(): number {
    return this.#characters;
  }

  /** Whether any block has begun. */
  get hasContent(): boolean {
    return this.#blocks.length > 0;
  }

  /**
   * Takes the next event.
   *
   * @throws {StreamError} When the event breaks the contract: a delta after its block's end, a second end, an
   * index out of order, an end of the reply with an open block (only a `length` stop may leave tool calls
   * open), or anything after the terminal event.
   */
  apply(event: AssistantMessageEvent): void {
    if (this.#ended) throw createContractError(`"${event.type}" came after the reply had ended`);
    switch (event.type) {
      case "start":
      case "warning":
        return;
      case "text_delta":
      case "thinking_delta":
      case "tool_call_delta":
        return this.append(event);
      case "text_start":
        return this.#openBlock(event.contentIndex, {
          type: "text",
          text: new TextBuffer(),
          open: true,
        });
      case "thinking_start":
        return this.#openBlock(event.contentIndex, {
          type: "thinking",
          text: new TextBuffer(),
          open: true,
        });
      case "tool_call_start": {
        const { contentIndex, id, name } = event;
        return this.#openBlock(contentIndex, {
          type: "tool_call",
          id,
          name,
          text: new TextBuffer(),
          open: true,
        });
      }
      case "text_end":
      case "thinking_end":
      case "tool_call_end":
        return this.#closeBlock(event);
      case "extension": {
        const { contentIndex, typeName, data } = event;
        const block: ContentBlock = { type: "extension", typeName, data };
        return this.#openBlock(contentIndex, { type: "extension", block, open: false });
      }
      case "done":
        return this.#endReply(event.stopReason === "length");
      case "error":
        return this.#endReply(false, event.error);
    }
  }

  /**
   * Takes a delta: what {@linkcode apply} does with one, without looking what it is.
   *
   * @throws {StreamError} When its block is not open.
   */
  append({ type, contentIndex, delta }: BlockDeltaEvent): void {
    const draft = this.#blocks[contentIndex];
    if (this.#ended || !draft?.open || type !== DELTA_TYPES[draft.type]) {
      throw createContractError(
        `"${type}" came for block ${contentIndex}, which is not open for it`,
      );
    }
    draft.text.append(delta);
    this.#characters += delta.length;
  }

  /** The reply so far. Calls that are still open count as cut. */
  finish(): AccumulatedReply {
    const content: ContentBlock[] = [];
    const calls: FinishedCall[] = [];
    for (const draft of this.#blocks) {
      if (draft.type === "tool_call") {
        const call = finishCallDraft(draft);
        calls.push(call);
        content.push(call.block);
      } else if (draft.type === "extension") {
        content.push(draft.block);
      } else if (draft.signature !== undefined || draft.text.toString() !== "") {
        content.push(finishTextDraft(draft));
      }
    }
    return { content, calls };
  }

  #openBlock(contentIndex: number, draft: BlockDraft): void {
    if (contentIndex !== this.#blocks.length) {
      throw createContractError(
        `Block ${contentIndex} began where block ${this.#blocks.length} was next`,
      );
    }
    this.#blocks.push(draft);
  }

  #closeBlock({ type, contentIndex, signature, redacted }: BlockEndEvent): void {
    const draft = this.#blocks[contentIndex];
    if (!draft?.open || !matchesBlockType(type, draft.type)) {
      throw createContractError(
        `"${type}" came for block ${contentIndex}, which is not open for it`,
      );
    }
    draft.open = false;
    if (signature !== undefined) draft.signature = signature;
    if (redacted !== undefined && draft.type !== "tool_call") draft.redacted = redacted;
  }

  #endReply(mayCutCalls: boolean, cause?: unknown): void {
    this.#ended = true;
    const open = this.#blocks.findIndex((draft) =>
      draft.open && !(mayCutCalls && draft.type === "tool_call")
    );
    if (open >= 0) {
      throw createContractError(`The reply ended while block ${open} was still open`, cause);
    }
  }
}

/** Reads the text of a tool call's arguments; nothing at all stands for no arguments. */
export function parseArguments(
  text: string,
): { readonly value: JsonObject } | { readonly reason: string } {
  if (text.trim() === "") return { value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return { value };
    return { reason: "The arguments must be a JSON object" };
  } catch (thrown) {
    return { reason: getErrorMessage(thrown) };
  }
}

function finishTextDraft(draft: TextDraft): ContentBlock {
  const { type, signature, redacted } = draft;
  const text = draft.text.toString();
  const marks = {
    ...(signature !== undefined && { signature }),
    ...(redacted !== undefined && { redacted }),
  };
  return type === "text" ? { type, text, ...marks } : { type, thinking: text, ...marks };
}

function finishCallDraft(draft: CallDraft): FinishedCall {
  const { id, name, open, signature } = draft;
  const text = draft.text.toString();
  const parsed = open ? { reason: "cut" } : parseArguments(text);
  const args = "value" in parsed ? parsed.value : {};
  const block: ToolCallBlock = {
    type: "tool_call",
    id,
    name,
    arguments: args,
    ...(signature !== undefined && { signature }),
  };
  if (open) return { block, state: { type: "cut" } };
  if ("value" in parsed) return { block, state: { type: "complete" } };
  return { block, state: { type: "unreadable", text, reason: parsed.reason } };
}

const DELTA_TYPES = {
  text: "text_delta",
  thinking: "thinking_delta",
  tool_call: "tool_call_delta",
  extension: "",
} as const;

function matchesBlockType(eventType: string, draftType: BlockDraft["type"]): boolean {
  return eventType.startsWith(draftType);
}

function createContractError(message: string, cause?: unknown): StreamError {
  return new StreamError(message, { cause });
}
