/**
 * The events of the reply that a model is writing.
 *
 * @module
 */

import type { AssistantMessageDelta } from "../../core/streams/stream.ts";
import type { AgUiEvent } from "./ag_ui_event.ts";
import { createPartId, type ReplyPart } from "./reply_parts.ts";

/** The text or reasoning that is being written. */
interface OpenBlock extends ReplyPart {
  /** Id of its message. */
  readonly id: string;
}

const BLOCK_TYPES = {
  text_delta: "text",
  thinking_delta: "reasoning",
} as const;

/** Maps the deltas of one reply after the other: each text, reasoning and call is started once, and ended. */
export class ReplyEvents {
  readonly #toCallId: (id: string) => string;
  #messageId = "";
  #block: OpenBlock | undefined;
  /** Ids of the calls that are being written, by index: providers may write several at once. */
  readonly #calls = new Map<number, string>();
  /** Ids of the calls that have arguments so far. */
  readonly #callsWithArguments = new Set<string>();
  /** Index of the first text, which has the id of the message. */
  #firstText: number | undefined;
  /** Ids of the messages of the attempt, which a retry takes back. */
  readonly #attempt = new Set<string>();

  /** Creates it; `toCallId` returns the id of a call for the client. */
  constructor(toCallId: (id: string) => string) {
    this.#toCallId = toCallId;
  }

  /** Ids of the calls that are being written, for the client. */
  get openCalls(): readonly string[] {
    return [...this.#calls.values()];
  }

  /** Begins a reply, which has no events yet. */
  start(messageId: string): void {
    this.#messageId = messageId;
    this.#firstText = undefined;
    this.#attempt.clear();
  }

  /** Returns the events of a delta. */
  append(delta: AssistantMessageDelta): AgUiEvent[] {
    const { contentIndex } = delta;
    switch (delta.type) {
      case "tool_call_start":
        return this.#openCall(delta.name, { id: this.#toCallId(delta.id), contentIndex });
      case "tool_call_delta": {
        const toolCallId = this.#calls.get(contentIndex);
        if (toolCallId === undefined) return [];
        if (delta.delta.trim() !== "") this.#callsWithArguments.add(toolCallId);
        return [{ type: "TOOL_CALL_ARGS", toolCallId, delta: delta.delta }];
      }
      case "text_delta":
      case "thinking_delta":
        return this.#write({ type: BLOCK_TYPES[delta.type], contentIndex }, delta.delta);
    }
  }

  /** Ends what is being written. */
  close(): AgUiEvent[] {
    const calls = this.openCalls.flatMap((toolCallId) => this.#closeCall(toolCallId));
    this.#calls.clear();
    this.#callsWithArguments.clear();
    return [...this.#closeBlock(), ...calls];
  }

  /** Takes the attempt back; returns the ids of its messages. */
  discard(): readonly string[] {
    const ids = [...this.#attempt];
    this.#attempt.clear();
    if (ids.length > 0) this.#firstText = undefined;
    return ids;
  }

  #openCall(
    toolCallName: string,
    { id: toolCallId, contentIndex }: { readonly id: string; readonly contentIndex: number },
  ): AgUiEvent[] {
    const closed = this.#closeBlock();
    this.#calls.set(contentIndex, toolCallId);
    this.#attempt.add(this.#messageId);
    const parentMessageId = this.#messageId;
    return [...closed, { type: "TOOL_CALL_START", toolCallId, toolCallName, parentMessageId }];
  }

  /** Ends a call. Some providers write nothing for a call without arguments, which a client could not parse. */
  #closeCall(toolCallId: string): AgUiEvent[] {
    const hasArguments = this.#callsWithArguments.has(toolCallId);
    return [
      ...(hasArguments ? [] : [{ type: "TOOL_CALL_ARGS", toolCallId, delta: "{}" } as const]),
      { type: "TOOL_CALL_END", toolCallId },
    ];
  }

  /** Writes a text or a reasoning, which is started before. */
  #write(part: ReplyPart, delta: string): AgUiEvent[] {
    const isOpen = this.#block?.contentIndex === part.contentIndex;
    const opened = isOpen ? [] : this.#openBlock(part);
    const { id: messageId = "" } = this.#block ?? {};
    switch (part.type) {
      case "text":
        return [...opened, { type: "TEXT_MESSAGE_CONTENT", messageId, delta }];
      case "reasoning":
        return [...opened, { type: "REASONING_MESSAGE_CONTENT", messageId, delta }];
    }
  }

  #openBlock(part: ReplyPart): AgUiEvent[] {
    const closed = this.#closeBlock();
    const messageId = this.#getPartId(part);
    this.#block = { ...part, id: messageId };
    this.#attempt.add(messageId);
    switch (part.type) {
      case "text":
        return [...closed, { type: "TEXT_MESSAGE_START", messageId, role: "assistant" }];
      case "reasoning":
        return [
          ...closed,
          { type: "REASONING_START", messageId },
          { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
        ];
    }
  }

  /** Returns the id of a part. A retry may write a text where the failed attempt has written reasoning, which the client keeps. */
  #getPartId(part: ReplyPart): string {
    if (part.type === "text") this.#firstText ??= part.contentIndex;
    const isFirst = part.type === "text" && this.#firstText === part.contentIndex;
    return isFirst ? this.#messageId : createPartId(this.#messageId, part);
  }

  #closeBlock(): AgUiEvent[] {
    const block = this.#block;
    this.#block = undefined;
    switch (block?.type) {
      case undefined:
        return [];
      case "text":
        return [{ type: "TEXT_MESSAGE_END", messageId: block.id }];
      case "reasoning":
        return [
          { type: "REASONING_MESSAGE_END", messageId: block.id },
          { type: "REASONING_END", messageId: block.id },
        ];
    }
  }
}
