/**
 * What is legal while a reply streams.
 *
 * @module
 */

import { extractText, type ThinkingBlock, toolCallsOf } from "../core/content.ts";
import type { RetryEvent } from "../core/event.ts";
import type { AssistantMessage } from "../core/message.ts";
import type { AssistantMessageDelta } from "../core/stream.ts";
import { require } from "./event_violation.ts";

interface ShownBlock {
  readonly type: "text" | "thinking" | "tool_call";
  readonly name: string;
  text: string;
}

/** Follows the deltas of one reply. */
export class ReplyGrammar {
  readonly #blocks = new Map<number, ShownBlock>();

  /** Takes a delta: pieces of a block go to the block that is there; blocks may grow side by side. */
  delta(delta: AssistantMessageDelta): void {
    const { contentIndex } = delta;
    if (delta.type === "tool_call_start") {
      this.#open(contentIndex, { type: "tool_call", name: delta.name, text: "" });
      return;
    }
    const type = blockTypeOf(delta.type);
    const block = this.#blocks.get(contentIndex);
    if (block) {
      require(block.type === type, "reply", `block ${contentIndex} is ${block.type}, not ${type}`);
      block.text += delta.delta;
      return;
    }
    require(type !== "tool_call", "reply", `no tool call has begun at block ${contentIndex}`);
    this.#open(contentIndex, { type, name: "", text: delta.delta });
  }

  /** Takes a failed attempt: what it has shown is void, and must be declared so. */
  retry({ discard }: RetryEvent): void {
    require(
      discard || this.#blocks.size === 0,
      "reply",
      "the failed attempt has shown something, but discard is false",
    );
    this.restart();
  }

  /** The reply starts again with nothing. */
  restart(): void {
    this.#blocks.clear();
  }

  /** Takes the finished reply. */
  end({ content }: AssistantMessage): void {
    require(
      this.#textOf("text") === extractText(content),
      "reply",
      "the text deltas do not add up to the text of the finished message",
    );
    const thoughts = content.filter((block): block is ThinkingBlock => block.type === "thinking");
    require(
      this.#textOf("thinking") === thoughts.map(({ thinking }) => thinking).join(""),
      "reply",
      "the thinking deltas do not add up to the thinking of the finished message",
    );
    const shown = this.#shown("tool_call").map(({ name }) => name);
    const kept = toolCallsOf(content).map(({ name }) => name);
    require(
      isSubsequence(kept, shown),
      "reply",
      `the finished message calls ${listOf(kept)}, but the deltas showed calls of ${listOf(shown)}`,
    );
  }

  #open(contentIndex: number, block: ShownBlock): void {
    require(!this.#blocks.has(contentIndex), "reply", `block ${contentIndex} has begun before`);
    this.#blocks.set(contentIndex, block);
  }

  #shown(type: ShownBlock["type"]): readonly ShownBlock[] {
    const inOrder = [...this.#blocks].toSorted(([left], [right]) => left - right);
    return inOrder.map(([_, block]) => block).filter((block) => block.type === type);
  }

  #textOf(type: ShownBlock["type"]): string {
    return this.#shown(type).map(({ text }) => text).join("");
  }
}

function blockTypeOf(
  delta: "text_delta" | "thinking_delta" | "tool_call_delta",
): ShownBlock["type"] {
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

function listOf(names: readonly string[]): string {
  return names.length === 0 ? "nothing" : names.join(", ");
}
