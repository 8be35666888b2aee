/**
 * Checks the deltas of a reply.
 *
 * @module
 */

import { extractText, extractToolCalls, type ThinkingBlock } from "../core/content.ts";
import type {
  ModelCallEndEvent,
  ModelCallStartEvent,
  ModelFallbackEvent,
  RetryEvent,
} from "../core/event.ts";
import type { AssistantMessage } from "../core/message.ts";
import type { AssistantMessageDelta } from "../core/stream.ts";
import { assertRule } from "./event_violation.ts";

interface StreamedBlock {
  readonly type: "text" | "thinking" | "tool_call";
  readonly name: string;
  text: string;
}

const BLOCK_TYPES = {
  text_delta: "text",
  thinking_delta: "thinking",
  tool_call_delta: "tool_call",
} as const;

/** Checks that the deltas of one reply add up to its final content. */
export class ReplyGrammar {
  #attempts = 0;
  #isCalling = false;
  readonly #blocks = new Map<number, StreamedBlock>();

  /** Checks the start of an attempt: attempts are numbered 1, 2, 3 … and do not overlap. */
  acceptCallStart({ attempt }: ModelCallStartEvent): void {
    assertRule(!this.#isCalling, "reply", "the previous model call has not ended");
    assertRule(attempt === this.#attempts + 1, "reply", `attempt ${this.#attempts + 1} is next`);
    this.#attempts = attempt;
    this.#isCalling = true;
  }

  /** Checks the end of an attempt. */
  acceptCallEnd({ attempt }: ModelCallEndEvent): void {
    assertRule(
      this.#isCalling && attempt === this.#attempts,
      "reply",
      `attempt ${attempt} has not started`,
    );
    this.#isCalling = false;
  }

  /** Appends a delta to its block, which it opens if needed; deltas of several blocks may alternate. */
  acceptDelta(delta: AssistantMessageDelta): void {
    assertRule(this.#isCalling, "reply", "a delta outside of a model call");
    const { contentIndex } = delta;
    if (delta.type === "tool_call_start") {
      this.#openBlock(contentIndex, { type: "tool_call", name: delta.name, text: "" });
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
    this.#openBlock(contentIndex, { type, name: "", text: delta.delta });
  }

  /** Discards the deltas of a failed attempt; the event must declare that. */
  acceptRetry({ discard }: RetryEvent | ModelFallbackEvent): void {
    assertRule(!this.#isCalling, "reply", "the model call has not ended");
    assertRule(
      discard || this.#blocks.size === 0,
      "reply",
      "the failed attempt emitted deltas, but discard is false",
    );
    this.reset();
  }

  /** Discards all deltas. */
  reset(): void {
    this.#blocks.clear();
  }

  /** Compares the deltas with the final message. */
  acceptEnd({ content }: AssistantMessage): void {
    assertRule(!this.#isCalling, "reply", "the model call has not ended");
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
    const streamed = this.#getBlocks("tool_call").map(({ name }) => name);
    const called = extractToolCalls(content).map(({ name }) => name);
    assertRule(
      isSubsequence(called, streamed),
      "reply",
      `the message calls ${formatNames(called)}, but the deltas call ${formatNames(streamed)}`,
    );
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

/** Whether all names occur in order; a reply that failed or was cut may lack some of the streamed calls. */
function isSubsequence(names: readonly string[], all: readonly string[]): boolean {
  let matched = 0;
  for (const name of all) if (matched < names.length && name === names[matched]) matched++;
  return matched === names.length;
}

function formatNames(names: readonly string[]): string {
  return names.length === 0 ? "nothing" : names.join(", ");
}
