/**
 * Reader for streams of the Responses API.
 *
 * @module
 */

import {
  type AgentError,
  ContentFilteredError,
  NetworkError,
} from "../../../src/core/errors/errors.ts";
import type { Usage } from "../../../src/core/models/usage.ts";
import type { BlockWriter } from "../../../src/core/streams/block_writer.ts";
import { classifyStreamError, type ErrorOrigin } from "../../kit/errors/classify.ts";
import { isErrorEvent } from "../../kit/errors/error_body.ts";
import type { ProviderCall } from "../../kit/provider.ts";
import type { ReplyReader } from "../../kit/stream/event_stream.ts";
import { createSecondReplyError } from "../../kit/stream/single_reply.ts";
import { UnknownParts } from "../../kit/stream/unknown_parts.ts";
import { readList, readObject, readText, textOrEmpty } from "../../kit/stream/wire_values.ts";
import type { ItemPosition } from "./calls.ts";
import { ReplyCalls } from "./reply_calls.ts";
import { ReplyText } from "./reply_text.ts";
import { ReplyUsage } from "./reply_usage.ts";
import { ITEM_PREFIX, type WireEvent, type WireItem, type WireResponse } from "./wire.ts";

/**
 * Events about the progress of the response or of an item, and parts that `response.output_item.done` repeats: content
 * parts, reasoning (at vLLM in parts of its own), and all of the provider's own tools.
 */
const REPEATED_EVENTS =
  /^(?:keepalive|response\.(?:queued|in_progress|(?:content|reasoning)_part\.\w+|reasoning_\w+\.done|(?:\w+_call\w*|mcp_list_tools)\.\w+))$/;

/** Options for `new ResponsesReply()`. */
export interface ResponsesReplyOptions {
  /** Whether the server is in a region with data residency. Default: `false`. */
  readonly isRegional?: boolean | undefined;
}

/** Reads the events of one reply. */
export class ResponsesReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #origin: ErrorOrigin;
  readonly #unknown: UnknownParts;
  readonly #text: ReplyText;
  readonly #calls: ReplyCalls;
  readonly #usage: ReplyUsage;
  #responseId = "";
  #hasClosedItem = false;

  /** Creates a reader for the reply of a call. */
  constructor(call: ProviderCall, { isRegional = false }: ResponsesReplyOptions = {}) {
    this.#writer = call.writer;
    this.#origin = call.origin;
    this.#unknown = new UnknownParts(call.writer);
    this.#text = new ReplyText(call.writer);
    this.#calls = new ReplyCalls(call, this.#unknown);
    this.#usage = new ReplyUsage(call.request.options.serviceTier, isRegional);
  }

  /** Usage, once received. */
  get usage(): Usage | undefined {
    return this.#usage.isKnown ? this.#usage.get() : undefined;
  }

  /** Reads the data of one event. */
  read(data: string): void {
    if (data.startsWith("[DONE]")) return;
    const event: WireEvent = JSON.parse(data);
    switch (event.type) {
      case "response.created":
        return this.#startResponse(Object(event.response)["id"]);
      case "response.output_text.delta":
        return this.#text.append(event.delta);
      case "response.output_text.done":
        return this.#text.endPart(event.text);
      case "response.output_text.annotation.added":
        return this.#text.addAnnotation(event.annotation);
      case "response.refusal.delta":
        return this.#text.appendRefusal(event.delta);
      case "response.refusal.done":
        return this.#text.endRefusal(event.refusal);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#text.appendThinking(event.delta);
      case "response.reasoning_summary_part.added":
        return this.#writer.closeTextOrThinking();
      case "response.function_call_arguments.delta":
        return this.#calls.append(event, readText(event.delta));
      case "response.function_call_arguments.done":
        return this.#calls.complete(event, event.arguments, data);
      case "response.output_item.added":
        return this.#startItem(event, event.item, data);
      case "response.output_item.done":
        return this.#closeItem(event, event.item, data);
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#endResponse(event.type, readObject(event.response) ?? {}, data);
      case "error":
        throw classifyStreamError(event, this.#origin);
      default:
        if (isErrorEvent(event)) throw classifyStreamError(event, this.#origin);
        this.#reportUnknown(Object(event)["type"]);
    }
  }

  /** Refuses a second response, such as a gateway sends when it repeats a failed request within one stream. */
  #startResponse(id: unknown): void {
    const responseId = textOrEmpty(id);
    const isRepeated = responseId !== "" && responseId === this.#responseId;
    this.#responseId = responseId;
    if (isRepeated || !this.#writer.hasContent) return;
    throw createSecondReplyError(this.#origin, "response");
  }

  #reportUnknown(type: unknown): void {
    const isKnown = typeof type === "string" && REPEATED_EVENTS.test(type);
    if (!isKnown) this.#unknown.report("an event", type);
  }

  #startItem(position: ItemPosition, item: WireItem, data: string): void {
    this.#calls.startItem();
    if (readObject(item)?.type === "function_call") this.#calls.open(position, item, data);
  }

  /** Closes an item; some servers send its content only now. */
  #closeItem(position: ItemPosition, item: WireItem, data: string): void {
    if (!readObject(item)) return;
    this.#calls.startItem();
    this.#hasClosedItem = true;
    switch (item.type) {
      case "function_call":
        return this.#calls.close(position, item, data);
      case "message":
        return this.#text.closeMessage(item);
      case "reasoning":
        this.#text.closeReasoning(item);
        if (shouldReplay(item)) this.#writeExtension(item);
        return;
      default:
        this.#usage.countItem(item);
        this.#writeExtension(item);
    }
  }

  #writeExtension(item: WireItem): void {
    this.#writer.writeExtension(ITEM_PREFIX + item.type, item);
  }

  #endResponse(type: string, response: WireResponse, data: string): void {
    this.#writer.setResponseId(response.id);
    this.#usage.update(response);
    const status = textOrEmpty(response.status) || type.replace("response.", "");
    if (status === "failed" || response.error) {
      const error = response.error ?? { message: "The response failed without an error" };
      throw classifyStreamError({ error }, this.#origin);
    }
    const output = readList(response.output);
    this.#closeMissedItems(output, data);
    this.#calls.end(output, data);
    this.#text.end();
    this.#calls.reportOrphans();
    this.#finish(response, { type, status });
  }

  /** Reads the items of a response that ended no item before, and calls and messages of one that had none of them. */
  #closeMissedItems(output: readonly WireItem[], data: string): void {
    const missedCalls = this.#calls.findMissed(output);
    const hasItems = this.#hasClosedItem;
    // Deltas that no end of an item followed are those of all items.
    const { seen } = this.#text;
    for (const [index, item] of output.entries()) {
      const type = textOrEmpty(readObject(item)?.type);
      const position = { output_index: index };
      const isMissed = type === "function_call"
        ? missedCalls.has(item) || (!hasItems && this.#calls.has(position, item))
        : !hasItems || (type === "message" && !seen.hasMessage);
      if (!isMissed) continue;
      this.#text.assumeSeen(seen);
      this.#closeItem(position, item, data);
    }
  }

  #finish(response: WireResponse, { type, status }: { type: string; status: string }): void {
    const { provider } = this.#origin;
    if (status !== "completed" && status !== "incomplete") {
      throw new NetworkError(`${provider}: the reply ended with the status ${status}`, {
        provider,
      });
    }
    const usage = this.#usage.get();
    const error = this.#findError(response);
    if (error) return this.#writer.fail(error, usage);
    const isTruncated = status === "incomplete" || type === "response.incomplete";
    const stopReason = this.#calls.hasCalls ? "tool_use" : "stop";
    this.#writer.finish({
      stopReason: isTruncated ? "length" : stopReason,
      usage,
      cost: this.#usage.cost,
    });
  }

  #findError({ incomplete_details: details }: WireResponse): AgentError | undefined {
    const { provider } = this.#origin;
    const { refusal } = this.#text;
    if (refusal !== "") {
      return new ContentFilteredError(`${provider} refused: ${refusal}`, { provider });
    }
    if (details?.reason !== "content_filter") return undefined;
    return new ContentFilteredError(`${provider} filtered the reply`, { provider });
  }
}

/** Whether reasoning is sent back: if it is encrypted, or contains the text of an open model. */
function shouldReplay({ encrypted_content: encrypted, content }: WireItem): boolean {
  return Boolean(encrypted) || (Array.isArray(content) && content.length > 0);
}
