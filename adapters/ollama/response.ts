/**
 * Converts Ollama's stream to a reply.
 *
 * @module
 */

import { StreamError } from "../../src/core/errors/errors.ts";
import type { Usage } from "../../src/core/models/usage.ts";
import type { BlockWriter } from "../../src/core/streams/block_writer.ts";
import { classifyStreamError } from "../kit/errors/classify.ts";
import type { ProviderCall } from "../kit/provider.ts";
import { ArgumentsReader } from "../kit/stream/arguments_reader.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import { warnRoundedNumber } from "../kit/stream/rounded_number.ts";
import { findEnding, warnUnknownStopReason } from "../kit/stream/stop_reasons.ts";
import {
  countOrZero,
  readList,
  readObject,
  readText,
  textOrEmpty,
} from "../kit/stream/wire_values.ts";
import type { WireChunk, WireReply, WireToolCall } from "./wire.ts";

/** There is no reason for tool calls. The server answers with the last ones when it only loaded or unloaded the model. */
const STOP_REASONS = {
  complete: ["stop"],
  truncated: ["length"],
  loaded: ["load", "unload"],
};

/** Reads the lines of one stream and writes the reply. */
export class OllamaReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #call: ProviderCall;
  readonly #arguments = new ArgumentsReader();
  #hasToolCall = false;

  constructor(call: ProviderCall) {
    this.#writer = call.writer;
    this.#call = call;
  }

  /** Reads one line. */
  read(line: string): void {
    const chunk: WireChunk = JSON.parse(line);
    if (chunk.error) throw classifyStreamError(chunk, this.#call.origin);
    const reply = readObject(chunk.message);
    if (reply) this.#append(reply, line);
    if (chunk.done) this.#finish(chunk);
  }

  #append({ thinking, content, images, tool_calls: calls }: WireReply, line: string): void {
    this.#writer.writeThinking(readText(thinking));
    this.#writer.writeText(readText(content));
    if (readList(images).length > 0) this.#writer.writeExtension("ollama.images", images);
    for (const call of readList(calls)) this.#writeToolCall(call, line);
  }

  #writeToolCall(wireCall: WireToolCall, line: string): void {
    const { id, function: call } = readObject(wireCall) ?? {};
    this.#hasToolCall = true;
    const name = this.#call.decodeToolName(readText(call?.name));
    const args = this.#arguments.toText(call?.arguments ?? {}, line);
    warnRoundedNumber({ name, args }, this.#writer);
    this.#writer.writeToolCall(textOrEmpty(id), name, args);
  }

  #finish(chunk: WireChunk): void {
    const reason = textOrEmpty(chunk.done_reason) || "stop";
    const usage = toUsage(chunk);
    const ending = findEnding(STOP_REASONS, reason);
    if (ending === "loaded") return this.#writer.fail(this.#createLoadError(reason), usage);
    if (ending === undefined) warnUnknownStopReason(reason, this.#writer);
    const stopReason = this.#hasToolCall ? "tool_use" : "stop";
    this.#writer.finish({ stopReason: ending === "truncated" ? "length" : stopReason, usage });
  }

  #createLoadError(reason: string): StreamError {
    const { provider } = this.#call.origin;
    const message = `${provider} ended without a reply (${reason.toLowerCase()})`;
    return new StreamError(message, { provider });
  }
}

function toUsage(chunk: WireChunk): Usage {
  const input = countOrZero(chunk.prompt_eval_count);
  const output = countOrZero(chunk.eval_count);
  return { input, output, cacheRead: 0, cacheWrite: 0, total: input + output };
}
