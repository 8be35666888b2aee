/**
 * Blocks of a reply of Bedrock that have started and not ended.
 *
 * @module
 */

import { isJsonObject } from "../../src/core/json/json.ts";
import { parseJsonOrUndefined } from "../../src/core/json/parse_json.ts";
import type { Citation } from "../../src/core/messages/content.ts";
import type { BlockWriter } from "../../src/core/streams/block_writer.ts";
import type { ProviderCall } from "../kit/provider.ts";
import { CallWriter } from "../kit/stream/call_writer.ts";
import type { UnknownParts } from "../kit/stream/unknown_parts.ts";
import { readObject, readText, textOrEmpty, toArgumentsText } from "../kit/stream/wire_values.ts";
import { toCitation } from "./citations.ts";
import { getModelFamily } from "./families.ts";
import { EXTENSION_PREFIX, type WireDelta, type WireStart, type WireToolUse } from "./wire.ts";

/** Parts of the start and the deltas of a block that its end needs; text has no start. */
type OpenBlock =
  | { readonly type: "thinking"; signature: string; redacted: string }
  | {
    readonly type: "tool_use";
    readonly contentIndex: number;
    hasInput: boolean;
    hasEnded: boolean;
  }
  | ServerItem;

/** An item of a tool that the provider runs, or a picture. */
type ServerItem =
  | { readonly type: "server_tool_use"; readonly toolUse: object; json: string }
  | { readonly type: "server_tool_result"; readonly toolResult: object; content: unknown[] }
  | { readonly type: "image"; readonly format: unknown; bytes: string };

/** Writes the blocks of one reply, which events name by their index. */
export class ReplyBlocks {
  readonly #writer: BlockWriter;
  readonly #unknown: UnknownParts;
  readonly #calls: CallWriter;
  readonly #blocks = new Map<number, OpenBlock>();
  /** Index of the last block. */
  #lastIndex = -1;
  /** Citations of the open text. */
  #citations: Citation[] = [];

  /** Creates the blocks of the reply to a call. */
  constructor(call: ProviderCall, unknown: UnknownParts) {
    const { model, context } = call.request;
    const isClaude = getModelFamily(model.modelId).thinking === "claude";
    this.#writer = call.writer;
    this.#unknown = unknown;
    this.#calls = new CallWriter(call, isClaude ? context.tools : []);
  }

  /** Whether the reply has a call of a tool. */
  get hasCalls(): boolean {
    return this.#calls.hasCalls;
  }

  /** Starts a block at an index. */
  start(index: number, start: WireStart | null | undefined): void {
    this.#closeUnended(index);
    const block = this.#open(readObject(start) ?? {});
    if (block) this.#blocks.set(index, block);
  }

  /** Appends a delta to the block at an index; `source` is the JSON text of the event. */
  append(index: number, wireDelta: WireDelta | null | undefined, source: string): void {
    this.#closeUnended(index);
    const delta = readObject(wireDelta) ?? {};
    const { text, toolUse, toolResult, reasoningContent, citation, image } = delta;
    if (isJsonObject(citation)) {
      this.#citations.push(toCitation(citation));
    } else if (text !== undefined) {
      this.#writer.writeText(readText(text));
    } else if (reasoningContent !== undefined) {
      this.#appendThinking(index, readObject(reasoningContent) ?? {});
    } else if (toolUse !== undefined) {
      this.#appendInput(index, toArgumentsText(readObject(toolUse)?.input, source));
    } else if (toolResult) {
      this.#appendResult(index, toolResult);
    } else if (image) {
      this.#appendImage(index, image);
    } else {
      const [name] = Object.keys(delta);
      if (name !== undefined) this.#unknown.report("a delta", name);
    }
  }

  /**
   * Ends the block at an index. The token limit may have cut off a call before its input, so that one without any stays
   * open until the next block or the stop reason shows that it is complete.
   */
  end(index: number): void {
    const block = this.#blocks.get(index);
    if (block?.type === "tool_use" && !block.hasInput) block.hasEnded = true;
    else this.#close(index);
  }

  /** Ends all blocks. */
  endAll(): void {
    for (const index of this.#blocks.keys()) this.#close(index);
  }

  /** Writes the citations of a text that has not ended. */
  endCitedText(): void {
    if (this.#citations.length > 0) this.#closeText();
  }

  /** Writes the input of calls that were cut off, which stay open. */
  flush(): void {
    this.#calls.flush();
  }

  #open(start: WireStart): OpenBlock | undefined {
    const toolUse = readObject(start.toolUse);
    const toolResult = readObject(start.toolResult);
    if (toolResult) return { type: "server_tool_result", toolResult, content: [] };
    if (start.image) return { type: "image", format: start.image.format, bytes: "" };
    if (toolUse) return this.#openCall(toolUse);
    const [name] = Object.keys(start);
    if (name !== undefined) this.#unknown.report("a block", name);
    return undefined;
  }

  #openCall(toolUse: WireToolUse): OpenBlock {
    if (toolUse.type === "server_tool_use") return { type: "server_tool_use", toolUse, json: "" };
    const contentIndex = this.#calls.open({ id: toolUse.toolUseId, name: toolUse.name });
    return { type: "tool_use", contentIndex, hasInput: false, hasEnded: false };
  }

  #appendThinking(index: number, reasoning: NonNullable<WireDelta["reasoningContent"]>): void {
    const current = this.#blocks.get(index);
    const block = current?.type === "thinking"
      ? current
      : { type: "thinking" as const, signature: "", redacted: "" };
    this.#blocks.set(index, block);
    block.signature += textOrEmpty(reasoning.signature);
    block.redacted += textOrEmpty(reasoning.redactedContent);
    this.#writer.writeThinking(readText(reasoning.text));
  }

  #appendInput(index: number, json: string): void {
    // Input of an unknown block is that of the open call, which must not run without it.
    const block = this.#blocks.get(index) ?? this.#findOpenCall();
    if (block?.type === "tool_use") {
      block.hasInput ||= json !== "";
      this.#calls.append(block.contentIndex, json);
    } else if (block?.type === "server_tool_use") block.json += json;
    else if (json !== "") this.#unknown.reportOrphanDelta("toolUse");
  }

  #findOpenCall(): OpenBlock | undefined {
    return [...this.#blocks.values()].findLast((block) =>
      block.type === "tool_use" && !block.hasEnded
    );
  }

  #appendResult(index: number, result: unknown): void {
    const block = this.#blocks.get(index);
    if (block?.type === "server_tool_result") block.content.push(...[result].flat());
    else this.#unknown.reportOrphanDelta("toolResult");
  }

  #appendImage(index: number, { source, error }: NonNullable<WireDelta["image"]>): void {
    const block = this.#blocks.get(index);
    const bytes = readText(source?.bytes);
    if (block?.type === "image") block.bytes = joinBase64(block.bytes, bytes);
    else if (bytes !== "") this.#unknown.reportOrphanDelta("image");
    if (!error) return;
    const message = `The image is incomplete: ${textOrEmpty(error.message)}`;
    this.#writer.warning("image_incomplete", message);
  }

  /** Closes the last block when another one follows: a call that has ended, and text and thinking whose end was not sent. */
  #closeUnended(nextIndex: number): void {
    const lastIndex = this.#lastIndex;
    this.#lastIndex = nextIndex;
    const block = this.#blocks.get(lastIndex);
    const isProse = block === undefined || block.type === "thinking";
    const hasEnded = block?.type === "tool_use" && block.hasEnded;
    if (lastIndex !== nextIndex && (isProse || hasEnded)) this.#close(lastIndex);
  }

  /** Closes a block; text has no start event, so an unknown block is text. */
  #close(index: number): void {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    if (block === undefined) return this.#closeText();
    switch (block.type) {
      case "thinking":
        return this.#closeThinking(block.signature, block.redacted);
      case "tool_use":
        return this.#calls.close(block.contentIndex);
      default:
        return this.#writeItem(block);
    }
  }

  #closeText(): void {
    const citations = this.#citations;
    this.#citations = [];
    if (citations.length > 0) this.#writer.closeText({ citations });
    else this.#writer.closeTextOrThinking();
  }

  #closeThinking(signature: string, redacted: string): void {
    if (redacted !== "") this.#writer.closeThinking({ signature: redacted, redacted: true });
    else if (signature !== "") this.#writer.closeThinking({ signature });
    else this.#writer.closeTextOrThinking();
  }

  /** Stores a server-side item, which has to be sent back unchanged. */
  #writeItem(item: ServerItem): void {
    switch (item.type) {
      case "server_tool_use": {
        const input = parseJsonOrUndefined(item.json || "{}");
        if (input === undefined) return this.#unknown.reportCutItem("server_tool_use");
        return this.#writeExtension("tool_use", { toolUse: { ...item.toolUse, input } });
      }
      case "server_tool_result": {
        const { toolResult, content } = item;
        return this.#writeExtension("tool_result", { toolResult: { ...toolResult, content } });
      }
      case "image": {
        const { format, bytes } = item;
        return this.#writeExtension("image", { image: { format, source: { bytes } } });
      }
    }
  }

  #writeExtension(kind: string, item: object): void {
    this.#writer.writeExtension(EXTENSION_PREFIX + kind, item);
  }
}

/** Joins two texts in base64, each of which may have padding. */
function joinBase64(start: string, end: string): string {
  return start.endsWith("=") ? btoa(atob(start) + atob(end)) : start + end;
}
