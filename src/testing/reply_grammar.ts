/**
 * Checks the model calls and the deltas of a reply.
 *
 * @module
 */

import type {
  ContextCompactedEvent,
  ModelCallEndEvent,
  ModelCallStartEvent,
  ModelFallbackEvent,
  RetryEvent,
} from "../core/events/event.ts";
import {
  extractText,
  extractToolCalls,
  type ThinkingBlock,
  type ToolCallBlock,
} from "../core/messages/content.ts";
import type { AssistantMessage } from "../core/messages/message.ts";
import type { AssistantMessageDelta } from "../core/streams/stream.ts";
import { assertRule } from "./event_violation.ts";

interface StreamedBlock {
  readonly type: "text" | "thinking" | "tool_call";
  /** Id and name of a tool call. */
  readonly call: string;
  text: string;
}

const BLOCK_TYPES = {
  text_delta: "text",
  thinking_delta: "thinking",
  tool_call_delta: "tool_call",
} as const;

/** The latest attempt of a model call. */
type AttemptState = "none" | "calling" | "failed" | "succeeded";

/** Checks the model calls of one reply, and that their deltas add up to its final content. */
export class ReplyGrammar {
  readonly #turn: number;
  readonly #start: AssistantMessage;
  #attempts = 0;
  #state: AttemptState = "none";
  readonly #blocks = new Map<number, StreamedBlock>();

  /** Creates the grammar of the reply that starts in a turn. */
  constructor(turn: number, start: AssistantMessage) {
    this.#turn = turn;
    this.#start = start;
  }

  /** Checks the start of an attempt: attempts are numbered 1, 2, 3 … and all but the last one fail. */
  acceptCallStart({ turn, attempt }: ModelCallStartEvent): void {
    const next = this.#attempts + 1;
    this.#assertNotCalling();
    assertRule(this.#state !== "succeeded", "reply", "the previous model call succeeded");
    assertRule(this.#blocks.size === 0, "reply", "deltas of a failed attempt were not discarded");
    assertRule(turn === this.#turn, "reply", `turn is ${turn}, expected ${this.#turn}`);
    assertRule(attempt === next, "reply", `attempt ${next} is next`);
    this.#attempts = attempt;
    this.#state = "calling";
  }

  /** Checks the end of an attempt. */
  acceptCallEnd({ turn, attempt, error }: ModelCallEndEvent): void {
    const isStarted = this.#state === "calling" && attempt === this.#attempts;
    assertRule(isStarted, "reply", `attempt ${attempt} has not started`);
    assertRule(turn === this.#turn, "reply", `turn is ${turn}, expected ${this.#turn}`);
    this.#state = error ? "failed" : "succeeded";
  }

  /** Appends a delta to its block, which it opens if needed; deltas of several blocks may alternate. */
  acceptDelta(delta: AssistantMessageDelta): void {
    assertRule(this.#state === "calling", "reply", "a delta outside of a model call");
    const { contentIndex } = delta;
    if (delta.type === "tool_call_start") {
      this.#openBlock(contentIndex, { type: "tool_call", call: formatCall(delta), text: "" });
      return;
    }
    const type = BLOCK_TYPES[delta.type];
    const block = this.#blocks.get(contentIndex);
    if (block) {
      assertRule(
        block.type === type,
        "reply",
        `block ${contentIndex} is ${block.type}, not ${type}`,
      );
      block.text += delta.delta;
      return;
    }
    assertRule(type !== "tool_call", "reply", `block ${contentIndex} has no tool_call_start`);
    this.#openBlock(contentIndex, { type, call: "", text: delta.delta });
  }

  /** Discards the deltas of a failed attempt; the event must declare whether there are any. */
  acceptRetry({ type, discard }: RetryEvent | ModelFallbackEvent): void {
    this.#assertFailed(type);
    assertRule(
      discard === this.#blocks.size > 0,
      "reply",
      discard
        ? "discard is true, but there are no deltas to discard"
        : "the failed attempt emitted deltas, but discard is false",
    );
    this.#blocks.clear();
  }

  /** Checks that a compaction, for another attempt, follows one that failed. */
  acceptCompaction({ type }: ContextCompactedEvent): void {
    this.#assertFailed(type);
  }

  /** Compares the final message with its start, the last attempt and the deltas. */
  acceptEnd({ id, content, stopReason }: AssistantMessage): void {
    this.#assertNotCalling();
    assertRule(id === this.#start.id, "message", "the id differs from that of message_start");
    const isFailure = stopReason === "error" || stopReason === "aborted";
    assertRule(
      isFailure === (this.#state !== "succeeded"),
      "reply",
      `the reply stopped with ${stopReason}, but ${describeState(this.#state)}`,
    );
    assertRule(
      this.#joinText("text") === extractText(content),
      "reply",
      "the text deltas do not add up to the text of the message",
    );
    const thinkingBlocks = content.filter((block): block is ThinkingBlock =>
      block.type === "thinking"
    );
    assertRule(
      this.#joinText("thinking") === thinkingBlocks.map(({ thinking }) => thinking).join(""),
      "reply",
      "the thinking deltas do not add up to the thinking of the message",
    );
    const streamed = this.#getBlocks("tool_call").map(({ call }) => call);
    const called = extractToolCalls(content).map(formatCall);
    assertRule(
      isSubsequence(called, streamed),
      "reply",
      `the message calls ${formatCalls(called)}, but the deltas call ${formatCalls(streamed)}`,
    );
  }

  #assertFailed(type: string): void {
    assertRule(this.#state === "failed", "reply", `${type}, but ${describeState(this.#state)}`);
  }

  #assertNotCalling(): void {
    assertRule(this.#state !== "calling", "reply", "the model call has not ended");
  }

  #openBlock(contentIndex: number, block: StreamedBlock): void {
    assertRule(
      !this.#blocks.has(contentIndex),
      "reply",
      `block ${contentIndex} has started before`,
    );
    this.#blocks.set(contentIndex, block);
  }

  #getBlocks(type: StreamedBlock["type"]): readonly StreamedBlock[] {
    const inOrder = [...this.#blocks].toSorted(([left], [right]) => left - right);
    return inOrder.map(([_, block]) => block).filter((block) => block.type === type);
  }

  #joinText(type: StreamedBlock["type"]): string {
    return this.#getBlocks(type).map(({ text }) => text).join("");
  }
}

/** Whether all items occur in order; a reply that failed or was cut may lack some of the streamed calls. */
function isSubsequence(items: readonly string[], all: readonly string[]): boolean {
  let matched = 0;
  for (const item of all) if (matched < items.length && item === items[matched]) matched++;
  return matched === items.length;
}

function formatCall({ id, name }: Pick<ToolCallBlock, "id" | "name">): string {
  return `${name} (${id})`;
}

function formatCalls(calls: readonly string[]): string {
  return calls.length === 0 ? "nothing" : calls.join(", ");
}

function describeState(state: AttemptState): string {
  switch (state) {
    case "none":
      return "the model was not called";
    case "calling":
      return "the model call has not ended";
    case "failed":
    case "succeeded":
      return `the last model call ${state}`;
  }
}
