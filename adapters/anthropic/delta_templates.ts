/**
 * Shortcut for the events with text and input, which are most events of a stream.
 *
 * @module
 */

import type { BlockWriter } from "../../src/core/streams/block_writer.ts";
import { DeltaTemplate } from "../kit/stream/delta_template.ts";
import { textOrEmpty } from "../kit/stream/wire_values.ts";
import type { ReplyBlocks } from "./reply_blocks.ts";
import type { WireEvent } from "./wire.ts";

/** Reads events that differ from an earlier one in their text or input only, without parsing the rest. */
export class DeltaTemplates {
  readonly #text = new DeltaTemplate("text", getText);
  readonly #input = new DeltaTemplate("partial_json", getInput);
  readonly #writer: BlockWriter;
  readonly #blocks: ReplyBlocks;

  /** Creates templates that write text with `writer`, and input to `blocks`. */
  constructor(writer: BlockWriter, blocks: ReplyBlocks) {
    this.#writer = writer;
    this.#blocks = blocks;
  }

  /** Reads an event that matches a template, and returns whether it does. */
  read(data: string): boolean {
    return this.#text.read(data) || this.#input.read(data);
  }

  /** Makes an event a template. */
  learn(data: string, event: WireEvent & { readonly type: "content_block_delta" }): void {
    const { index } = event;
    const text = getText(event);
    if (text) this.#text.learn(data, text, (next) => this.#writer.writeText(next));
    const json = getInput(event);
    if (json) this.#input.learn(data, json, (next) => this.#blocks.appendInput(index, next));
  }
}

function getText(event: WireEvent): string {
  const isText = event.type === "content_block_delta" && event.delta.type === "text_delta";
  return isText ? textOrEmpty(event.delta.text) : "";
}

function getInput(event: WireEvent): string {
  const isInput = event.type === "content_block_delta" && event.delta.type === "input_json_delta";
  return isInput ? textOrEmpty(event.delta.partial_json) : "";
}
