/**
 * The streaming reply in the state of an agent.
 *
 * @module
 */

import type { ContentBlock } from "../core/messages/content.ts";
import type { AssistantMessage } from "../core/messages/message.ts";
import { zeroCost, zeroUsage } from "../core/models/usage.ts";
import type { AssistantMessageDelta } from "../core/streams/stream.ts";
import { TextBuffer } from "../core/text/text_buffer.ts";
import type { MessageDraft } from "./live_state.ts";
/** A block of the reply; the arguments of a tool call are text until it is complete. */
type BlockDraft =
  | { readonly type: "text" | "thinking"; readonly text: TextBuffer }
  | {
    readonly type: "tool_call";
    readonly id: string;
    readonly name: string;
    readonly text: TextBuffer;
  };

/** The streaming reply. Deltas are appended as text; the message is created only when it is read. */
export class ReplyDraft implements MessageDraft {
  readonly #start: AssistantMessage;
  #blocks: (BlockDraft | undefined)[] = [];

  /** Creates a draft from the message of `message_start`, which listeners may change later. */
  constructor(start: AssistantMessage) {
    this.#start = { ...start };
  }

  /** Appends a delta. */
  apply(delta: AssistantMessageDelta): void {
    const block = this.#blocks[delta.contentIndex] ?? this.#addBlock(delta);
    if (delta.type !== "tool_call_start") block.text.append(delta.delta);
  }

  #addBlock(delta: AssistantMessageDelta): BlockDraft {
    const text = new TextBuffer();
    const block: BlockDraft = delta.type === "tool_call_start"
      ? { type: "tool_call", id: delta.id, name: delta.name, text }
      : { type: delta.type === "thinking_delta" ? "thinking" : "text", text };
    this.#blocks[delta.contentIndex] = block;
    return block;
  }

  /** Discards the content so far. */
  clear(): void {
    this.#blocks = [];
  }

  /** Returns the message so far. */
  snapshot(): AssistantMessage {
    const content = Array.from(this.#blocks, createBlock);
    return { ...this.#start, content, usage: zeroUsage(), cost: zeroCost() };
  }
}

function createBlock(draft: BlockDraft | undefined): ContentBlock {
  // A block without deltas (an extension), which keeps the positions of those after it for the next deltas.
  if (!draft) return { type: "text", text: "" };
  switch (draft.type) {
    case "text":
      return { type: "text", text: draft.text.toString() };
    case "thinking":
      return { type: "thinking", thinking: draft.text.toString() };
    case "tool_call": {
      const { type, id, name, text } = draft;
      return { type, id, name, arguments: {}, partialJson: text.toString() };
    }
  }
}
