/**
 * The updates of the text that a model is writing.
 *
 * @module
 */

import type { BlockDeltaEvent } from "../../core/streams/stream.ts";
import type { AcpUpdate } from "./acp_update.ts";

/** Maps the text and the thinking of one reply after the other. */
export class ReplyUpdates {
  #messageId = "";
  /** The first half of a character at the end of a block, whose second half may follow. */
  #half: { readonly contentIndex: number; readonly text: string } | undefined;

  /** Begins a reply. */
  start(messageId: string): void {
    this.#messageId = messageId;
  }

  /** Forgets the first half of a character, whose second half does not follow. */
  endBlock(): void {
    this.#half = undefined;
  }

  /** Returns the update for a delta of a text or of thinking; none if it has no whole character. */
  append(type: "text" | "thinking", delta: BlockDeltaEvent): AcpUpdate[] {
    const text = this.#takeCharacters(delta);
    return text === "" ? [] : [this.#createChunk(CHUNKS[type], text)];
  }

  /** Returns a text of the reply that the model has not written. */
  createText(text: string): AcpUpdate {
    return this.#createChunk(CHUNKS.text, text);
  }

  /** Returns the text of a delta; a character that the provider has divided is sent with its second half. */
  #takeCharacters({ contentIndex, delta }: BlockDeltaEvent): string {
    const first = this.#half?.contentIndex === contentIndex ? this.#half.text : "";
    const text = first + delta;
    const end = text.search(/[\ud800-\udbff]$/);
    this.#half = end < 0 ? undefined : { contentIndex, text: text.slice(end) };
    return end < 0 ? text : text.slice(0, end);
  }

  #createChunk(sessionUpdate: (typeof CHUNKS)[keyof typeof CHUNKS], text: string): AcpUpdate {
    return { sessionUpdate, content: { type: "text", text }, messageId: this.#messageId };
  }
}

const CHUNKS = { text: "agent_message_chunk", thinking: "agent_thought_chunk" } as const;
