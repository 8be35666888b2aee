/**
 * Ollama's stream becomes a reply.
 *
 * @module
 */

import type { BlockWriter } from "../../src/core/block_writer.ts";
import type { Usage } from "../../src/core/usage.ts";
import { classifyStreamError, type ErrorOrigin } from "../kit/errors/classify.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import { countOrZero, textOrEmpty } from "../kit/stream/wire_values.ts";
import type { WireChunk, WireReply, WireToolCall } from "./wire.ts";

/** Options of {@linkcode OllamaReply}. */
export interface OllamaReplyOptions {
  /** The tool's own name, for one on the wire. */
  readonly toolName: (wireName: string) => string;
  /** Whose errors these are. */
  readonly origin: ErrorOrigin;
}

/** Reasons to stop that mean a natural end; tool calls have none of their own. */
const NORMAL_STOP_REASONS = ["stop", "load", "unload"];

/** Reads the lines of one stream. */
export class OllamaReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #options: OllamaReplyOptions;
  #hasToolCall = false;

  /** Makes a reader that writes with `writer`. */
  constructor(writer: BlockWriter, options: OllamaReplyOptions) {
    this.#writer = writer;
    this.#options = options;
  }

  /** Reads one line. */
  read(line: string): void {
    const chunk: WireChunk = JSON.parse(line);
    if (chunk.error) throw classifyStreamError(chunk, this.#options.origin);
    if (chunk.message) this.#append(chunk.message);
    if (chunk.done) this.#finish(chunk);
  }

  #append({ thinking, content, tool_calls: calls }: WireReply): void {
    this.#writer.writeThinking(textOrEmpty(thinking));
    this.#writer.writeText(textOrEmpty(content));
    for (const call of calls ?? []) this.#writeToolCall(call);
  }

  #writeToolCall({ id, function: called }: WireToolCall): void {
    this.#hasToolCall = true;
    const name = this.#options.toolName(textOrEmpty(called?.name));
    this.#writer.writeToolCall(textOrEmpty(id), name, toArgumentsJson(called?.arguments));
  }

  #finish(chunk: WireChunk): void {
    const reason = textOrEmpty(chunk.done_reason) || "stop";
    const isCut = reason === "length";
    if (!isCut && !NORMAL_STOP_REASONS.includes(reason)) {
      this.#writer.warning("unknown_stop_reason", `Unknown stop reason: ${reason}`);
    }
    const ended = this.#hasToolCall ? "tool_use" : "stop";
    this.#writer.finish({ stopReason: isCut ? "length" : ended, usage: toUsage(chunk) });
  }
}

function toArgumentsJson(args: unknown): string {
  return typeof args === "string" ? args : JSON.stringify(args ?? {});
}

function toUsage(chunk: WireChunk): Usage {
  const input = countOrZero(chunk.prompt_eval_count);
  const output = countOrZero(chunk.eval_count);
  return { input, output, cacheRead: 0, cacheWrite: 0, total: input + output };
}
