/**
 * A proxy's events become a reply.
 *
 * @module
 */

import type { BlockEndOptions, BlockWriter } from "../../src/core/block_writer.ts";
import { AgentError, NetworkError, StreamError } from "../../src/core/errors.ts";
import { isJsonObject } from "../../src/core/json.ts";
import type { BlockEndEvent } from "../../src/core/stream.ts";
import type { Cost, Usage } from "../../src/core/usage.ts";
import type { ErrorOrigin } from "../kit/errors/classify.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import { redact } from "../../src/core/redact.ts";
import { EVENT_VALIDATORS } from "./event_validators.ts";
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
    if (data === "[DONE]") {
      throw this.#createStreamError("The stream was over before the reply was");
    }
    const event = this.#parse(data);
    if (event !== undefined) this.#apply(event);
  }

  /** Reads and checks an event; one of an unknown type is told of and left out. */
  #parse(data: string): ProxyEvent | undefined {
    const value: unknown = JSON.parse(data);
    const type = isJsonObject(value) ? value["type"] : undefined;
    if (typeof type !== "string") throw this.#createStreamError("An event has no type");
    const shape = Object.hasOwn(EVENT_VALIDATORS, type) ? EVENT_VALIDATORS[type] : undefined;
    if (shape === undefined) {
      this.#writer.warning("unknown_event", `The proxy sent an unknown event: ${type}`);
      return undefined;
    }
    const problem = shape(value);
    if (problem !== undefined) throw this.#createStreamError(`${type}${problem}`);
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
        this.#getOpenBlock(event.contentIndex, "text");
        return writer.writeText(event.delta);
      case "thinking_delta":
        this.#getOpenBlock(event.contentIndex, "thinking");
        return writer.writeThinking(event.delta);
      case "tool_call_delta":
        return writer.writeToolArguments(this.#getCallIndex(event.contentIndex), event.delta);
      case "text_end":
      case "thinking_end":
      case "tool_call_end":
        return this.#close(event);
      case "extension":
        return writer.writeExtension(event.typeName, event.data);
      case "warning":
        return writer.warning(event.code, event.message, event.data);
      case "done":
        return this.#finish(event);
      case "error":
        return this.#fail(event);
    }
  }

  #getOpenBlock(contentIndex: number, type: OpenBlock["type"]): OpenBlock {
    const block = this.#blocks.get(contentIndex);
    if (block?.type === type) return block;
    throw this.#createStreamError(
      `Something came for block ${contentIndex}, which is no open ${type}`,
    );
  }

  #getCallIndex(contentIndex: number): number {
    const block = this.#getOpenBlock(contentIndex, "tool_call");
    return block.type === "tool_call" ? block.contentIndex : -1;
  }

  #close({ type, contentIndex, signature, redacted }: BlockEndEvent): void {
    const closing: BlockEndOptions = { signature, redacted };
    const isMarked = signature !== undefined;
    switch (type) {
      case "text_end":
        this.#getOpenBlock(contentIndex, "text");
        if (isMarked) this.#writer.closeText(closing);
        else this.#writer.closeTextOrThinking();
        break;
      case "thinking_end":
        this.#getOpenBlock(contentIndex, "thinking");
        if (isMarked) this.#writer.closeThinking(closing);
        else this.#writer.closeTextOrThinking();
        break;
      case "tool_call_end":
        this.#writer.closeToolCall(this.#getCallIndex(contentIndex), closing);
        break;
    }
    this.#blocks.delete(contentIndex);
  }

  #finish({ stopReason, usage, cost }: ProxyDoneEvent): void {
    this.#writer.finish({
      stopReason,
      usage: fillMissingAmounts(usage),
      cost: cost && fillMissingAmounts(cost),
    });
  }

  #fail({ error: record, usage }: ProxyErrorEvent): void {
    const { provider, secrets } = this.#origin;
    const message = redact(record.message, secrets);
    // It was not this side that aborted, so the same request may well succeed.
    const error = record.code === "aborted"
      ? new NetworkError(`${provider}: The reply was called off: ${message}`, { provider })
      : AgentError.from({ provider, ...record, message });
    this.#writer.fail(error, usage && fillMissingAmounts(usage));
  }

  #createStreamError(what: string): StreamError {
    const { provider } = this.#origin;
    return new StreamError(`${provider}: ${what}`, { provider });
  }
}

/** Fills in what was not told. */
function fillMissingAmounts(amounts: Partial<Usage & Cost>): Usage & Cost {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, extra } = amounts;
  const { total = input + output + cacheRead + cacheWrite } = amounts;
  return { input, output, cacheRead, cacheWrite, total, ...(extra && { extra }) };
}
