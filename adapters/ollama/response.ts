/**
 * Converts Ollama's stream to a reply.
 *
 * @module
 */

import type { BlockWriter } from "../../src/core/block_writer.ts";
import type { Usage } from "../../src/core/usage.ts";
import { classifyStreamError } from "../kit/errors/classify.ts";
import type { ProviderCall } from "../kit/provider.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import { countOrZero, textOrEmpty, toArgumentsText } from "../kit/stream/wire_values.ts";
import type { WireChunk, WireReply, WireToolCall } from "./wire.ts";

/** Reasons of a complete reply; there is none for tool calls. */
const NORMAL_STOP_REASONS = ["stop", "load", "unload"];

/** Reads the lines of one stream and writes the reply. */
export class OllamaReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #call: ProviderCall;
  #hasToolCall = false;

  constructor(call: ProviderCall) {
    this.#writer = call.writer;
    this.#call = call;
  }

  /** Reads one line. */
  read(line: string): void {
    const chunk: WireChunk = JSON.parse(line);
    if (chunk.error) throw classifyStreamError(chunk, this.#call.origin);
    if (chunk.message) this.#append(chunk.message);
    if (chunk.done) this.#finish(chunk);
  }

  #append({ thinking, content, tool_calls: calls }: WireReply): void {
    this.#writer.writeThinking(textOrEmpty(thinking));
    this.#writer.writeText(textOrEmpty(content));
    for (const call of calls ?? []) this.#writeToolCall(call);
  }

  #writeToolCall({ id, function: call }: WireToolCall): void {
    this.#hasToolCall = true;
    const name = this.#call.decodeToolName(textOrEmpty(call?.name));
    this.#writer.writeToolCall(textOrEmpty(id), name, toArgumentsText(call?.arguments ?? {}));
  }

  #finish(chunk: WireChunk): void {
    const reason = textOrEmpty(chunk.done_reason).toLowerCase() || "stop";
    const isCut = reason === "length";
    if (!isCut && !NORMAL_STOP_REASONS.includes(reason)) {
      this.#writer.warning("unknown_stop_reason", `Unknown stop reason: ${reason}`);
    }
    const stopReason = this.#hasToolCall ? "tool_use" : "stop";
    this.#writer.finish({ stopReason: isCut ? "length" : stopReason, usage: toUsage(chunk) });
  }
}

function toUsage(chunk: WireChunk): Usage {
  const input = countOrZero(chunk.prompt_eval_count);
  const output = countOrZero(chunk.eval_count);
  return { input, output, cacheRead: 0, cacheWrite: 0, total: input + output };
}
