/**
 * Writes the parts of a reply as events, and collects its content.
 *
 * @module
 */

import type { BlockWriter } from "../../core/block_writer.ts";
import type { ContentBlock } from "../../core/content.ts";
import { isJsonObject } from "../../core/json.ts";
import type { ReplyPartWriter } from "./reply_parser.ts";

/** The content that the events of a reply build. */
export class ReplyBlocks implements ReplyPartWriter {
  readonly #writer: BlockWriter;
  readonly #newId: () => string;
  readonly #blocks: { type: "text" | "thinking" | "call"; name: string; text: string }[] = [];
  #contentIndex = 0;

  constructor(writer: BlockWriter, newId: () => string) {
    this.#writer = writer;
    this.#newId = newId;
  }

  writeText(text: string): void {
    if (text === "") return;
    this.#append("text", text);
    this.#writer.writeText(text);
  }

  writeThinking(text: string): void {
    if (text === "") return;
    this.#append("thinking", text);
    this.#writer.writeThinking(text);
  }

  open(name: string): void {
    this.#blocks.push({ type: "call", name, text: "" });
    this.#contentIndex = this.#writer.openToolCall(this.#newId(), name);
  }

  writeArguments(text: string): void {
    this.#append("call", text);
    this.#writer.writeToolArguments(this.#contentIndex, text);
  }

  close(): void {
    this.#writer.closeToolCall(this.#contentIndex);
  }

  /** Returns the content, as the message of the reply has it. */
  getContent(): ContentBlock[] {
    return this.#blocks.map(({ type, name, text }) => {
      switch (type) {
        case "text":
          return { type, text };
        case "thinking":
          return { type, thinking: text };
        case "call":
          return { type: "tool_call", id: "", name, arguments: parseArguments(text) };
      }
    });
  }

  #append(type: "text" | "thinking" | "call", text: string): void {
    const last = this.#blocks.at(-1);
    if (last?.type === type) last.text += text;
    else this.#blocks.push({ type, name: "", text });
  }
}

function parseArguments(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
