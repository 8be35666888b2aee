/**
 * Converts Anthropic's event stream to a reply.
 *
 * @module
 */

import type { BlockWriter } from "../../src/core/block_writer.ts";
import { ContentFilteredError } from "../../src/core/errors.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import type { Usage } from "../../src/core/usage.ts";
import { classifyStreamError } from "../kit/errors/classify.ts";
import type { ProviderCall } from "../kit/provider.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import { countOrZero, textOrEmpty } from "../kit/stream/wire_values.ts";
import type { WireBlockStart, WireDelta, WireEvent, WireUsage } from "./wire.ts";

/** Type prefix of the extension blocks that store Anthropic's own items. */
export const EXTENSION_PREFIX = "anthropic.";

type OpenBlock =
  | { readonly type: "text" }
  | { readonly type: "thinking"; signature: string }
  | { readonly type: "tool_use"; readonly contentIndex: number; input: unknown }
  | { readonly type: "item"; item: JsonObject; json: string };

/** Reads the events of one stream and writes the reply. */
export class AnthropicReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #call: ProviderCall;
  readonly #blocks = new Map<number, OpenBlock>();
  #wireUsage: WireUsage = {};
  #stopReason: string | null = null;
  #explanation: string | undefined;
  #hasToolCall = false;

  constructor(call: ProviderCall) {
    this.#writer = call.writer;
    this.#call = call;
  }

  /** Tokens counted so far. */
  get usage(): Usage {
    return toUsage(this.#wireUsage);
  }

  /** Reads one event. */
  read(data: string): void {
    const event: WireEvent = JSON.parse(data);
    switch (event.type) {
      case "content_block_delta":
        return this.#append(event.index, event.delta);
      case "content_block_start":
        this.#blocks.set(event.index, this.#startBlock(event.content_block));
        return;
      case "content_block_stop":
        return this.#close(event.index);
      case "message_start":
        this.#writer.setResponseId(event.message.id);
        return this.#updateUsage(event.message.usage);
      case "message_delta":
        this.#updateUsage(event.usage);
        this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
        this.#explanation = event.delta.stop_details?.explanation ?? undefined;
        return;
      case "message_stop":
        return this.#finish();
      case "error":
        throw classifyStreamError(event, this.#call.origin);
    }
  }

  #startBlock(block: WireBlockStart): OpenBlock {
    switch (block.type) {
      case "text":
        this.#writer.writeText(textOrEmpty(block.text));
        return { type: "text" };
      case "thinking":
        this.#writer.writeThinking(textOrEmpty(block.thinking));
        return { type: "thinking", signature: textOrEmpty(block.signature) };
      case "redacted_thinking":
        this.#writer.closeThinking({ signature: textOrEmpty(block.data), redacted: true });
        return { type: "text" };
      case "tool_use": {
        this.#hasToolCall = true;
        const name = this.#call.decodeToolName(textOrEmpty(block.name));
        const contentIndex = this.#writer.openToolCall(textOrEmpty(block.id), name);
        return { type: "tool_use", contentIndex, input: block.input };
      }
      default:
        return { type: "item", item: { ...block }, json: "" };
    }
  }

  #append(index: number, delta: WireDelta): void {
    switch (delta.type) {
      case "text_delta":
        return this.#writer.writeText(textOrEmpty(delta.text));
      case "thinking_delta":
        return this.#writer.writeThinking(textOrEmpty(delta.thinking));
      case "input_json_delta":
        return this.#appendInput(index, textOrEmpty(delta.partial_json));
      case "signature_delta": {
        const block = this.#blocks.get(index);
        if (block?.type === "thinking") block.signature += textOrEmpty(delta.signature);
        return;
      }
      case "compaction_delta": {
        const block = this.#blocks.get(index);
        const { type: _type, ...fields } = delta;
        if (block?.type === "item") block.item = { ...block.item, ...fields };
        return;
      }
    }
  }

  #appendInput(index: number, json: string): void {
    const block = this.#blocks.get(index);
    if (block?.type === "tool_use") {
      if (json !== "") block.input = undefined;
      this.#writer.writeToolArguments(block.contentIndex, json);
    } else if (block?.type === "item") {
      block.json += json;
    }
  }

  #close(index: number): void {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    switch (block?.type) {
      case "text":
        return this.#writer.closeTextOrThinking();
      case "thinking":
        if (block.signature === "") return this.#writer.closeTextOrThinking();
        return this.#writer.closeThinking({ signature: block.signature });
      case "tool_use":
        // The start may carry the complete input; usually it carries an empty object.
        if (isJsonObject(block.input) && Object.keys(block.input).length > 0) {
          this.#writer.writeToolArguments(block.contentIndex, JSON.stringify(block.input));
        }
        return this.#writer.closeToolCall(block.contentIndex);
      case "item": {
        // Server-side items (searches, compaction) have to be sent back unchanged.
        const { item, json } = block;
        const data = json === "" ? item : { ...item, input: JSON.parse(json) };
        return this.#writer.writeExtension(EXTENSION_PREFIX + String(item["type"]), data);
      }
    }
  }

  #updateUsage(counts: WireUsage | undefined): void {
    const known = Object.entries(counts ?? {}).filter(([, count]) => count !== null);
    this.#wireUsage = { ...this.#wireUsage, ...Object.fromEntries(known) };
  }

  #finish(): void {
    const { usage } = this;
    switch (this.#stopReason) {
      case "max_tokens":
      case "model_context_window_exceeded":
        return this.#writer.finish({ stopReason: "length", usage });
      case "refusal":
      case "content_filter": {
        const { provider } = this.#call.origin;
        const reason = this.#explanation ?? "the model declined to answer";
        const message = `${provider} refused the request: ${reason}`;
        return this.#writer.fail(new ContentFilteredError(message, { provider }), usage);
      }
      case "pause_turn":
        this.#writer.warning("paused_turn", "The model paused a long turn; prompt it to continue");
        break;
      case "tool_use":
      case "end_turn":
      case "stop_sequence":
      case null:
        break;
      default:
        this.#writer.warning("unknown_stop_reason", `Unknown stop reason: ${this.#stopReason}`);
    }
    this.#writer.finish({ stopReason: this.#hasToolCall ? "tool_use" : "stop", usage });
  }
}

/** Converts the counts; Anthropic's `input_tokens` excludes cache reads and cache writes. */
function toUsage(counts: WireUsage): Usage {
  const input = countOrZero(counts.input_tokens);
  const output = countOrZero(counts.output_tokens);
  const cacheRead = countOrZero(counts.cache_read_input_tokens);
  const cacheWrite = countOrZero(counts.cache_creation_input_tokens);
  const reasoning = counts.output_tokens_details?.thinking_tokens;
  const cacheWriteLong = countOrZero(counts.cache_creation?.ephemeral_1h_input_tokens);
  const extra = {
    ...(reasoning !== undefined && { reasoning: countOrZero(reasoning) }),
    ...(cacheWriteLong > 0 && { cacheWriteLong }),
  };
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    total: input + output + cacheRead + cacheWrite,
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}
