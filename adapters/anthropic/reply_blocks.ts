/**
 * Blocks of a reply of Anthropic that have started and not ended.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import { parseJsonOrUndefined } from "../../src/core/json/parse_json.ts";
import type { BlockWriter } from "../../src/core/streams/block_writer.ts";
import type { ProviderCall } from "../kit/provider.ts";
import { ArgumentsReader } from "../kit/stream/arguments_reader.ts";
import { CallWriter } from "../kit/stream/call_writer.ts";
import type { UnknownParts } from "../kit/stream/unknown_parts.ts";
import { readText, textOrEmpty } from "../kit/stream/wire_values.ts";
import { toCallSignature } from "./caller.ts";
import { toCitation } from "./citations.ts";
import {
  EXTENSION_PREFIX,
  requireObject,
  type WireBlockDelta,
  type WireBlockStart,
  type WireCitation,
  type WireDelta,
} from "./wire.ts";

/** Parts of the start and the deltas of a block that its end needs. */
type OpenBlock =
  | { readonly type: "text"; readonly citations: WireCitation[] }
  | { readonly type: "thinking"; signature: string }
  | OpenCall
  | { readonly type: "item"; readonly item: JsonObject; json: string };

interface OpenCall {
  readonly type: "tool_use";
  readonly contentIndex: number;
  readonly signature: string | undefined;
  /** Input of the start; `undefined` once a delta has followed. */
  input: unknown;
  /** The event with the input of its start. */
  readonly source: string;
  hasEnded: boolean;
}

/** Writes the blocks of one reply, which events name by their index. */
export class ReplyBlocks {
  readonly #writer: BlockWriter;
  readonly #unknown: UnknownParts;
  readonly #calls: CallWriter;
  readonly #arguments = new ArgumentsReader();
  readonly #blocks = new Map<number, OpenBlock>();
  /** Indexes of the blocks that the start of the next one closes. */
  readonly #passing = new Set<number>();

  /** Creates the blocks of the reply to a call. */
  constructor(call: ProviderCall, unknown: UnknownParts) {
    this.#writer = call.writer;
    this.#unknown = unknown;
    this.#calls = new CallWriter(call, call.request.context.tools);
  }

  /** Whether the reply has a call of a tool. */
  get hasCalls(): boolean {
    return this.#calls.hasCalls;
  }

  /** Whether a block is open. */
  get hasOpen(): boolean {
    return this.#blocks.size > 0;
  }

  /** Starts a block at an index; `source` is the JSON text of the event. */
  start(index: number, block: WireBlockStart, source: string): void {
    this.#closePassing(index);
    const opened = this.#open(requireObject(block), source);
    this.#blocks.set(index, opened);
    if (opened.type === "text" || opened.type === "thinking") this.#passing.add(index);
  }

  /** Appends a delta to the block at an index. */
  append(index: number, delta: WireDelta): void {
    switch (delta.type) {
      case "text_delta":
        return this.#writer.writeText(readText(delta.text));
      case "thinking_delta":
        return this.#writer.writeThinking(readText(delta.thinking));
      case "input_json_delta":
        return this.appendInput(index, readText(delta.partial_json));
      default:
        this.#appendToBlock(this.#blocks.get(index), delta);
    }
  }

  /** Appends to the input of the block at an index. */
  appendInput(index: number, json: string): void {
    // Input of an unknown block is that of the open call, which must not run without it.
    const block = this.#blocks.get(index) ?? this.#findOpenCall();
    if (json === "") return;
    if (block?.type === "tool_use") {
      // Some gateways send the empty input of the start before the input.
      if (block.input !== undefined && json.trim() === "{}") return;
      block.input = undefined;
      this.#calls.append(block.contentIndex, json);
    } else if (block?.type === "item") {
      block.json += json;
    } else {
      this.#unknown.reportOrphanDelta("input_json_delta");
    }
  }

  /**
   * Ends the block at an index. The token limit may have cut off a call before its arguments, so that one without any
   * stays open until the next block or the stop reason shows that it is complete.
   */
  end(index: number): void {
    const block = this.#blocks.get(index);
    if (block?.type !== "tool_use" || !isEmptyInput(block.input)) return this.#close(index);
    block.hasEnded = true;
    this.#passing.add(index);
  }

  /** Ends all blocks; some gateways omit their ends. */
  endAll(): void {
    for (const index of this.#blocks.keys()) this.#close(index);
  }

  /** Writes the input of calls that were cut off, which stay open. */
  flush(): void {
    this.#calls.flush();
  }

  #open(block: WireBlockStart, source: string): OpenBlock {
    switch (block.type) {
      case "text":
        this.#writer.writeText(readText(block.text));
        return { type: "text", citations: [...block.citations ?? []] };
      case "thinking":
        this.#writer.writeThinking(readText(block.thinking));
        return { type: "thinking", signature: textOrEmpty(block.signature) };
      case "redacted_thinking":
        this.#writer.closeThinking({ signature: textOrEmpty(block.data), redacted: true });
        return { type: "text", citations: [] };
      case "tool_use": {
        const contentIndex = this.#calls.open(block);
        const signature = toCallSignature(block);
        const { input } = block;
        return { type: "tool_use", contentIndex, signature, input, source, hasEnded: false };
      }
      default:
        return { type: "item", item: { ...block }, json: "" };
    }
  }

  /** Appends a delta that belongs to the start of its block. */
  #appendToBlock(block: OpenBlock | undefined, delta: WireBlockDelta): void {
    switch (delta.type) {
      case "signature_delta":
        if (block?.type !== "thinking") break;
        block.signature += textOrEmpty(delta.signature);
        return;
      case "citations_delta":
        if (block?.type !== "text") break;
        block.citations.push(delta.citation);
        return;
      case "compaction_delta": {
        if (block?.type !== "item") break;
        const { type: _type, ...fields } = delta;
        Object.assign(block.item, fields);
        return;
      }
      default:
        return this.#unknown.report("a delta", Object(delta)["type"]);
    }
    this.#unknown.reportOrphanDelta(delta.type);
  }

  #findOpenCall(): OpenBlock | undefined {
    return [...this.#blocks.values()].findLast((block) =>
      block.type === "tool_use" && !block.hasEnded
    );
  }

  /**
   * Closes blocks when the next one starts: calls that have ended, and those whose end some gateways omit: text and
   * thinking, which only one block at a time has, and the block at an index.
   */
  #closePassing(nextIndex: number): void {
    for (const index of this.#passing) this.#close(index);
    this.#close(nextIndex);
  }

  #close(index: number): void {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    this.#passing.delete(index);
    switch (block?.type) {
      case "text":
        return this.#closeText(block.citations);
      case "thinking":
        return this.#closeThinking(block.signature);
      case "tool_use":
        return this.#closeCall(block);
      case "item":
        return this.#writeItem(block.item, block.json);
    }
  }

  #closeText(wireCitations: readonly WireCitation[]): void {
    const citations = wireCitations.map(toCitation);
    if (citations.length > 0) this.#writer.closeText({ citations });
    else this.#writer.closeTextOrThinking();
  }

  #closeThinking(signature: string): void {
    if (signature === "") this.#writer.closeTextOrThinking();
    else this.#writer.closeThinking({ signature });
  }

  #closeCall({ contentIndex, signature, input, source }: OpenCall): void {
    // The start may carry the complete input; usually it carries an empty object.
    if (!isEmptyInput(input)) {
      this.#calls.append(contentIndex, this.#arguments.toText(input, source));
    }
    this.#calls.close(contentIndex, { signature });
  }

  /** Stores a server-side item (search, compaction), which has to be sent back unchanged. */
  #writeItem(item: JsonObject, json: string): void {
    const type = String(item["type"]);
    const input = json === "" ? item["input"] : parseJsonOrUndefined(json);
    if (json !== "" && input === undefined) return this.#unknown.reportCutItem(type);
    const data = input === undefined ? item : { ...item, input };
    this.#writer.writeExtension(EXTENSION_PREFIX + type, data);
  }
}

/** Whether an input has no member; that of a call with deltas is `undefined`. */
function isEmptyInput(input: unknown): boolean {
  return isJsonObject(input) && Object.keys(input).length === 0;
}
