/**
 * Converts Bedrock's event stream to a reply.
 *
 * @module
 */

import {
  type AgentError,
  ContentFilteredError,
  StreamError,
} from "../../src/core/errors/errors.ts";
import { isJsonObject } from "../../src/core/json/json.ts";
import type { Usage } from "../../src/core/models/usage.ts";
import type { BlockWriter } from "../../src/core/streams/block_writer.ts";
import { classifyStreamError, type ErrorOrigin } from "../kit/errors/classify.ts";
import type { ProviderCall } from "../kit/provider.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import { createSecondReplyError } from "../kit/stream/single_reply.ts";
import { findEnding, warnUnknownStopReason } from "../kit/stream/stop_reasons.ts";
import { UnknownParts } from "../kit/stream/unknown_parts.ts";
import { textOrEmpty } from "../kit/stream/wire_values.ts";
import { toErrorBody } from "./errors.ts";
import type { BedrockFrame } from "./event_codec.ts";
import { ReplyBlocks } from "./reply_blocks.ts";
import { ReplyUsage } from "./usage.ts";
import type {
  WireBlockDelta,
  WireBlockStart,
  WireBlockStop,
  WireMessageStop,
  WireMetadata,
} from "./wire.ts";

const STOP_REASONS = {
  complete: ["end_turn", "stop_sequence", "tool_use"],
  truncated: ["max_tokens", "model_context_window_exceeded"],
  filtered: ["content_filtered", "content_filter"],
  blocked: ["guardrail_intervened"],
  malformed: ["malformed_model_output", "malformed_tool_use"],
};

/** Reads the messages of one stream and writes the reply. */
export class BedrockReply implements ReplyReader<BedrockFrame> {
  readonly #writer: BlockWriter;
  readonly #origin: ErrorOrigin;
  readonly #unknown: UnknownParts;
  readonly #blocks: ReplyBlocks;
  readonly #usage: ReplyUsage;
  #stopReason: string | undefined;

  constructor(call: ProviderCall) {
    this.#writer = call.writer;
    this.#origin = call.origin;
    this.#unknown = new UnknownParts(call.writer);
    this.#blocks = new ReplyBlocks(call, this.#unknown);
    this.#usage = new ReplyUsage(call.request.options.serviceTier);
  }

  /** Tokens counted so far; `undefined` before the provider reports them. */
  get usage(): Usage | undefined {
    return this.#usage.isKnown ? this.#usage.get() : undefined;
  }

  /** Reads one message. */
  read({ type, name, body }: BedrockFrame): void {
    switch (type) {
      case "event":
        return this.#readEvent(name, body);
      case "exception":
        throw this.#toError(name, parseExceptionMessage(body));
      case "error":
        throw this.#toError(name, body);
    }
  }

  /** Finishes a reply whose token counts, usually the last message, were not sent. */
  end(): void {
    if (this.#stopReason !== undefined) this.#finish(this.#stopReason);
  }

  #readEvent(name: string, body: string): void {
    switch (name) {
      case "contentBlockDelta": {
        const { contentBlockIndex, delta }: WireBlockDelta = JSON.parse(body);
        if (this.#stopReason !== undefined) this.#startMessage();
        return this.#blocks.append(contentBlockIndex, delta, body);
      }
      case "contentBlockStart": {
        const { contentBlockIndex, start }: WireBlockStart = JSON.parse(body);
        if (this.#stopReason !== undefined) this.#startMessage();
        this.#blocks.start(contentBlockIndex, start);
        return this.#usage.countBlock(start ?? {});
      }
      case "contentBlockStop": {
        const { contentBlockIndex }: WireBlockStop = JSON.parse(body);
        return this.#blocks.end(contentBlockIndex);
      }
      case "messageStop": {
        const { stopReason }: WireMessageStop = JSON.parse(body);
        this.#stopReason = textOrEmpty(stopReason) || "end_turn";
        return this.#finishIfComplete();
      }
      case "metadata":
        this.#readMetadata(JSON.parse(body));
        return this.#finishIfComplete();
      case "messageStart":
        return this.#startMessage();
      default:
        this.#unknown.report("an event", name);
    }
  }

  /** Refuses a second message, such as a gateway sends when it repeats a failed request within one stream. */
  #startMessage(): void {
    if (this.#writer.hasContent) throw createSecondReplyError(this.#origin, "message");
  }

  #readMetadata(metadata: WireMetadata): void {
    this.#usage.update(metadata);
    const { trace } = metadata;
    if (!isJsonObject(trace)) return;
    const message = "The data of this warning is the assessment of the guardrail";
    this.#writer.warning("guardrail_trace", message, trace);
  }

  /** Finishes the reply when the stop reason and the counts, which come in either order, are known. */
  #finishIfComplete(): void {
    if (this.#usage.isKnown) this.end();
  }

  #finish(reason: string): void {
    this.#blocks.endCitedText();
    const usage = this.#usage.get();
    switch (findEnding(STOP_REASONS, reason)) {
      case "truncated":
        // A call that the token limit cut off stays open.
        this.#blocks.flush();
        return this.#writer.finish({ stopReason: "length", usage });
      case "filtered":
        return this.#writer.fail(this.#createFilterError("the content filter"), usage);
      case "blocked":
        return this.#writer.fail(this.#createFilterError("a guardrail"), usage);
      case "malformed":
        return this.#writer.fail(this.#createOutputError(reason), usage);
      case undefined:
        warnUnknownStopReason(reason, this.#writer);
    }
    this.#blocks.endAll();
    this.#writer.finish({ stopReason: this.#blocks.hasCalls ? "tool_use" : "stop", usage });
  }

  #createFilterError(filter: string): AgentError {
    const { provider } = this.#origin;
    const message = `${provider} filtered the reply: stopped by ${filter}`;
    return new ContentFilteredError(message, { provider });
  }

  #createOutputError(reason: string): AgentError {
    const { provider } = this.#origin;
    const message = `${provider} ended the reply early: malformed output (${reason.toLowerCase()})`;
    return new StreamError(message, { provider, retryable: true });
  }

  #toError(name: string, message: string): Error {
    return classifyStreamError(toErrorBody(name, message), this.#origin);
  }
}

function parseExceptionMessage(body: string): string {
  const value: unknown = JSON.parse(body);
  const message = isJsonObject(value) ? value["message"] ?? value["Message"] : undefined;
  return typeof message === "string" ? message : body;
}
