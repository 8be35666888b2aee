/**
 * Converts Anthropic's event stream to a reply.
 *
 * @module
 */

import { ContentFilteredError, NetworkError } from "../../src/core/errors/errors.ts";
import type { Usage } from "../../src/core/models/usage.ts";
import type { BlockWriter, FinishedReply } from "../../src/core/streams/block_writer.ts";
import { classifyStreamError, type ErrorOrigin } from "../kit/errors/classify.ts";
import { isErrorEvent } from "../kit/errors/error_body.ts";
import type { ProviderCall } from "../kit/provider.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import { createSecondReplyError } from "../kit/stream/single_reply.ts";
import { findEnding, warnUnknownStopReason } from "../kit/stream/stop_reasons.ts";
import { UnknownParts } from "../kit/stream/unknown_parts.ts";
import { textOrEmpty } from "../kit/stream/wire_values.ts";
import { CONTAINER } from "./container.ts";
import { DeltaTemplates } from "./delta_templates.ts";
import { ReplyBlocks } from "./reply_blocks.ts";
import { ReplyUsage } from "./usage.ts";
import {
  requireObject,
  type WireContainer,
  type WireEvent,
  type WireMessageDelta,
  type WireMessageStart,
} from "./wire.ts";

const STOP_REASONS = {
  complete: ["end_turn", "stop_sequence", "tool_use"],
  truncated: ["max_tokens", "model_context_window_exceeded"],
  filtered: ["refusal", "content_filter"],
  paused: ["pause_turn", "compaction"],
};

/** Reads the events of one stream and writes the reply. */
export class AnthropicReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #origin: ErrorOrigin;
  readonly #unknown: UnknownParts;
  readonly #blocks: ReplyBlocks;
  readonly #templates: DeltaTemplates;
  readonly #usage = new ReplyUsage();
  #messageId: string | null = null;
  #stopReason = "";
  #explanation = "";
  #container: WireContainer | null = null;

  constructor(call: ProviderCall) {
    this.#writer = call.writer;
    this.#origin = call.origin;
    this.#unknown = new UnknownParts(call.writer);
    this.#blocks = new ReplyBlocks(call, this.#unknown);
    this.#templates = new DeltaTemplates(call.writer, this.#blocks);
  }

  /** Tokens counted so far. */
  get usage(): Usage {
    return this.#usage.get();
  }

  /** Reads one event. */
  read(data: string): void {
    if (this.#templates.read(data)) return;
    if (data.startsWith("[DONE]")) return this.#readDone();
    const event: WireEvent = JSON.parse(data);
    switch (event.type) {
      case "content_block_delta":
        this.#templates.learn(data, event);
        return this.#blocks.append(event.index, requireObject(event.delta));
      case "content_block_start":
        this.#blocks.start(event.index, event.content_block, data);
        return this.#usage.countBlock(event.content_block);
      case "content_block_stop":
        return this.#blocks.end(event.index);
      case "message_start":
        return this.#startMessage(requireObject(event.message));
      case "message_delta":
        this.#updateMessage(requireObject(event.delta));
        return this.#usage.update(event.usage);
      case "message_stop":
        return this.#finish();
      case "error":
        throw classifyStreamError(event, this.#origin);
      case "ping":
        return;
      default:
        if (isErrorEvent(event)) throw classifyStreamError(event, this.#origin);
        this.#unknown.report("an event", Object(event)["type"]);
    }
  }

  /**
   * Refuses a second message, such as a gateway sends when it repeats a failed request within one stream. Some gateways
   * repeat the start of a message.
   */
  #startMessage({ id, usage, container }: WireMessageStart): void {
    const messageId = textOrEmpty(id);
    const isRepeated = messageId !== "" && messageId === this.#messageId;
    const isFirst = this.#messageId === null || (isRepeated && !this.#blocks.hasOpen);
    if (!isFirst || this.#writer.hasContent) throw createSecondReplyError(this.#origin, "message");
    this.#messageId = messageId;
    this.#writer.setResponseId(id);
    this.#container = container ?? this.#container;
    this.#usage.update(usage);
  }

  #updateMessage(
    { stop_reason: reason, stop_details: details, container }: WireMessageDelta,
  ): void {
    this.#stopReason = textOrEmpty(reason) || this.#stopReason;
    this.#explanation = textOrEmpty(details?.explanation) || this.#explanation;
    this.#container = container ?? this.#container;
  }

  /** Handles the end of a stream in OpenAI's form, which some gateways send in place of `message_stop`. */
  #readDone(): void {
    if (this.#stopReason !== "") return this.#finish();
    const { provider } = this.#origin;
    throw new NetworkError(`${provider}: the reply ended without a stop reason`, { provider });
  }

  #finish(): void {
    const { usage } = this;
    switch (findEnding(STOP_REASONS, this.#stopReason || "end_turn")) {
      case "truncated":
        // A call that the token limit cut off stays open.
        return this.#complete({ stopReason: "length", usage });
      case "filtered":
        return this.#writer.fail(this.#createRefusal(), usage);
      case "paused":
        this.#writer.warning("paused_turn", "The model paused a long turn; prompt it to continue");
        break;
      case undefined:
        warnUnknownStopReason(this.#stopReason, this.#writer);
    }
    this.#blocks.endAll();
    this.#complete({ stopReason: this.#blocks.hasCalls ? "tool_use" : "stop", usage });
  }

  #complete(reply: FinishedReply): void {
    this.#blocks.flush();
    if (this.#container) this.#writer.writeExtension(CONTAINER, this.#container);
    this.#writer.finish(reply);
  }

  #createRefusal(): ContentFilteredError {
    const { provider } = this.#origin;
    const explanation = this.#explanation || "the model declined to answer";
    return new ContentFilteredError(`${provider} refused the request: ${explanation}`, {
      provider,
    });
  }
}
