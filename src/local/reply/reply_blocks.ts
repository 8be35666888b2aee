/**
 * Writes the parts of a reply as events, and collects its content.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { ContentBlock } from "../../core/messages/content.ts";
import type { BlockWriter } from "../../core/streams/block_writer.ts";
import type { ReplyPartWriter } from "./reply_parser.ts";

/** The content that the events of a reply build. */
export class ReplyBlocks implements ReplyPartWriter {
  readonly #writer: BlockWriter;
  readonly #newId: () => string;
  readonly #blocks: ReplyBlock[] = [];
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

  /**
   * Returns the content, as the message of the reply has it; `undefined` if it does not represent the text: an empty reply,
   * or a call whose arguments are not complete, which the message has as `{}`.
   */
  getContent(): ContentBlock[] | undefined {
    const content = this.#blocks.map(toContent);
    return content.length > 0 && content.every((block) => block !== undefined)
      ? content
      : undefined;
  }

  #append(type: "text" | "thinking" | "call", text: string): void {
    const last = this.#blocks.at(-1);
    if (last?.type === type) last.text += text;
    else this.#blocks.push({ type, name: "", text });
  }
}

interface ReplyBlock {
  readonly type: "text" | "thinking" | "call";
  readonly name: string;
  text: string;
}

function toContent({ type, name, text }: ReplyBlock): ContentBlock | undefined {
  switch (type) {
    case "text":
      return { type, text };
    case "thinking":
      return { type, thinking: text };
    case "call": {
      const args = parseArguments(text);
      return args && { type: "tool_call", id: "", name, arguments: args };
    }
  }
}

function parseArguments(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
