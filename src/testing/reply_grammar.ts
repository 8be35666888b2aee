/**
 * What is legal while a reply streams.
 *
 * @module
 */

import { extractText, extractToolCalls, type ThinkingBlock } from "../core/content.ts";
import type { RetryEvent } from "../core/event.ts";
import type { AssistantMessage } from "../core/message.ts";
import type { AssistantMessageDelta } from "../core/stream.ts";
import { assertRule } from "./event_violation.ts";

interface StreamedBlock {
  readonly type: "text" | "thinking" | "tool_call";
  readonly name: string;
  text: string;
}

/** Follows the deltas of one reply. */
export class ReplyGrammar {
  readonly #blocks = new Map<number, StreamedBlock>();

  /** Takes a delta: pieces of a block go to the block that is there; blocks may grow side by side. */
  acceptDelta(delta: AssistantMessageDelta): void {
    const { contentIndex } = delta;
    if (delta.type === "tool_call_start") {
      this.#openBlock(contentIndex, { type: "tool_call", name: delta.name, text: "" });
      return;
    }
    const type = toBlockType(delta.type);
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
    assertRule(type !== "tool_call", "reply", `no tool call has begun at block ${contentIndex}`);
    this.#openBlock(contentIndex, { type, name: "", text: delta.delta });
  }

  /** Takes a failed attempt: what it has shown is void, and must be declared so. */
  acceptRetry({ discard }: RetryEvent): void {
    assertRule(
      discard || this.#blocks.size === 0,
      "reply",
      "the failed attempt has shown something, but discard is false",
    );
    this.reset();
  }

  /** The reply starts again with nothing. */
  reset(): void {
    this.#blocks.clear();
  }

  /** Takes the finished reply. */
  acceptEnd({ content }: AssistantMessage): void {
    assertRule(
      this.#joinText("text") === extractText(content),
      "reply",
      "the text deltas do not add up to the text of the finished message",
    );
    const thoughts = content.filter((block): block is ThinkingBlock => block.type === "thinking");
    assertRule(
      this.#joinText("thinking") === thoughts.map(({ thinking }) => thinking).join(""),
      "reply",
      "the thinking deltas do not add up to the thinking of the finished message",
    );
    const shown = this.#getBlocks("tool_call").map(({ name }) => name);
    const kept = extractToolCalls(content).map(({ name }) => name);
    assertRule(
      isSubsequence(kept, shown),
      "reply",
      `the finished message calls ${formatNames(kept)}, but the deltas showed calls of ${
        formatNames(shown)
      }`,
    );
  }

  #openBlock(contentIndex: number, block: StreamedBlock): void {
    assertRule(!this.#blocks.has(contentIndex), "reply", `block ${contentIndex} has begun before`);
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

function toBlockType(
  delta: "text_delta" | "thinking_delta" | "tool_call_delta",
): StreamedBlock["type"] {
  switch (delta) {
    case "text_delta":
      return "text";
    case "thinking_delta":
      return "thinking";
    case "tool_call_delta":
      return "tool_call";
  }
}

/** Calls may be missing from the end of a reply that failed, was aborted or was cut. */
function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let found = 0;
  for (const value of whole) if (found < part.length && value === part[found]) found++;
  return found === part.length;
}

function formatNames(names: readonly string[]): string {
  return names.length === 0 ? "nothing" : names.join(", ");
}
