/**
 * A proxy's events become a reply.
 *
 * @module
 */

import type { BlockClosing, BlockWriter } from "../../src/core/block_writer.ts";
import { AgentError, NetworkError, StreamError } from "../../src/core/errors.ts";
import { isJsonObject } from "../../src/core/json.ts";
import type { BlockEndEvent } from "../../src/core/stream.ts";
import type { Cost, Usage } from "../../src/core/usage.ts";
import type { ErrorOrigin } from "../kit/errors/classify.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import { redact } from "../../src/core/redact.ts";
import { EVENT_SHAPES } from "./event_shape.ts";
import type { ProxyDoneEvent, ProxyErrorEvent, ProxyEvent } from "./wire.ts";

/** A block that has begun, by the proxy's index. */
type OpenBlock =
  | { readonly type: "text" | "thinking" }
  | { readonly type: "tool_call"; readonly contentIndex: number };

/** Reads the events of one reply. */
export class ProxyReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #origin: ErrorOrigin;
  readonly #blocks = new Map<number, OpenBlock>();

  /** Makes a reader that writes with `writer`. */
  constructor(writer: BlockWriter, origin: ErrorOrigin) {
    this.#writer = writer;
    this.#origin = origin;
  }

  /** Reads one event. */
  read(data: string): void {
    if (this.#writer.ended) return;
    if (data === "[DONE]") throw this.#unreadable("The stream was over before the reply was");
    const event = this.#parse(data);
    if (event !== undefined) this.#apply(event);
  }

  /** Reads and checks an event; one of an unknown type is told of and left out. */
  #parse(data: string): ProxyEvent | undefined {
    const value: unknown = JSON.parse(data);
    const type = isJsonObject(value) ? value["type"] : undefined;
    if (typeof type !== "string") throw this.#unreadable("An event has no type");
    const shape = Object.hasOwn(EVENT_SHAPES, type) ? EVENT_SHAPES[type] : undefined;
    if (shape === undefined) {
      this.#writer.warning("unknown_event", `The proxy sent an unknown event: ${type}`);
      return undefined;
    }
    const problem = shape(value);
    if (problem !== undefined) throw this.#unreadable(`${type}${problem}`);
    return value as ProxyEvent;
  }

  #apply(event: ProxyEvent): void {
    const writer = this.#writer;
    switch (event.type) {
      case "start":
        return;
      case "text_start":
        return void this.#blocks.set(event.contentIndex, { type: "text" });
      case "thinking_start":
        return void this.#blocks.set(event.contentIndex, { type: "thinking" });
      case "tool_call_start": {
        const contentIndex = writer.openToolCall(event.id, event.name);
        return void this.#blocks.set(event.contentIndex, { type: "tool_call", contentIndex });
      }
      case "text_delta":
        this.#open(event.contentIndex, "text");
        return writer.text(event.delta);
      case "thinking_delta":
        this.#open(event.contentIndex, "thinking");
        return writer.thinking(event.delta);
      case "tool_call_delta":
        return writer.toolArguments(this.#callAt(event.contentIndex), event.delta);
      case "text_end":
      case "thinking_end":
      case "tool_call_end":
        return this.#close(event);
      case "extension":
        return writer.extension(event.typeName, event.data);
      case "warning":
        return writer.warning(event.code, event.message, event.data);
      case "done":
        return this.#finish(event);
      case "error":
        return this.#fail(event);
    }
  }

  #open(contentIndex: number, type: OpenBlock["type"]): OpenBlock {
    const block = this.#blocks.get(contentIndex);
    if (block?.type === type) return block;
    throw this.#unreadable(`Something came for block ${contentIndex}, which is no open ${type}`);
  }

  #callAt(contentIndex: number): number {
    const block = this.#open(contentIndex, "tool_call");
    return block.type === "tool_call" ? block.contentIndex : -1;
  }

  #close({ type, contentIndex, signature, redacted }: BlockEndEvent): void {
    const closing: BlockClosing = { signature, redacted };
    const isMarked = signature !== undefined;
    switch (type) {
      case "text_end":
        this.#open(contentIndex, "text");
        if (isMarked) this.#writer.closeText(closing);
        else this.#writer.closeProse();
        break;
      case "thinking_end":
        this.#open(contentIndex, "thinking");
        if (isMarked) this.#writer.closeThinking(closing);
        else this.#writer.closeProse();
        break;
      case "tool_call_end":
        this.#writer.closeToolCall(this.#callAt(contentIndex), closing);
        break;
    }
    this.#blocks.delete(contentIndex);
  }

  #finish({ stopReason, usage, cost }: ProxyDoneEvent): void {
    this.#writer.finish({ stopReason, usage: summed(usage), cost: cost && summed(cost) });
  }

  #fail({ error: record, usage }: ProxyErrorEvent): void {
    const { provider, secrets } = this.#origin;
    const message = redact(record.message, secrets);
    // It was not this side that aborted, so the same request may well succeed.
    const error = record.code === "aborted"
      ? new NetworkError(`${provider}: The reply was called off: ${message}`, { provider })
      : AgentError.from({ provider, ...record, message });
    this.#writer.fail(error, usage && summed(usage));
  }

  #unreadable(what: string): StreamError {
    const { provider } = this.#origin;
    return new StreamError(`${provider}: ${what}`, { provider });
  }
}

/** Fills in what was not told. */
function summed(amounts: Partial<Usage & Cost>): Usage & Cost {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, extra } = amounts;
  const { total = input + output + cacheRead + cacheWrite } = amounts;
  return { input, output, cacheRead, cacheWrite, total, ...(extra && { extra }) };
}
