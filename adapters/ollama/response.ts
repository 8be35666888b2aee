/**
 * Ollama's stream becomes a reply.
 *
 * @module
 */

import type { BlockWriter } from "../../src/core/block_writer.ts";
import type { Usage } from "../../src/core/usage.ts";
import { classifyStreamError, type ErrorOrigin } from "../kit/errors/classify.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import { countOf, textOf } from "../kit/stream/wire_values.ts";
import type { WireChunk, WireReply, WireToolCall } from "./wire.ts";

/** Options of {@linkcode OllamaReply}. */
export interface OllamaReplyOptions {
  /** The tool's own name, for one on the wire. */
  readonly toolName: (wireName: string) => string;
  /** Whose errors these are. */
  readonly origin: ErrorOrigin;
}

/** Reasons to stop that mean a natural end; tool calls have none of their own. */
const STOPS = ["stop", "load", "unload"];

/** Reads the lines of one stream. */
export class OllamaReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #options: OllamaReplyOptions;
  #calledTool = false;

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
    this.#writer.thinking(textOf(thinking));
    this.#writer.text(textOf(content));
    for (const call of calls ?? []) this.#call(call);
  }

  #call({ id, function: called }: WireToolCall): void {
    this.#calledTool = true;
    const name = this.#options.toolName(textOf(called?.name));
    this.#writer.toolCall(textOf(id), name, argumentsOf(called?.arguments));
  }

  #finish(chunk: WireChunk): void {
    const reason = textOf(chunk.done_reason) || "stop";
    const isCut = reason === "length";
    if (!isCut && !STOPS.includes(reason)) {
      this.#writer.warning("unknown_stop_reason", `Unknown stop reason: ${reason}`);
    }
    const ended = this.#calledTool ? "tool_use" : "stop";
    this.#writer.finish({ stopReason: isCut ? "length" : ended, usage: usageOf(chunk) });
  }
}

function argumentsOf(args: unknown): string {
  return typeof args === "string" ? args : JSON.stringify(args ?? {});
}

function usageOf(chunk: WireChunk): Usage {
  const input = countOf(chunk.prompt_eval_count);
  const output = countOf(chunk.eval_count);
  return { input, output, cacheRead: 0, cacheWrite: 0, total: input + output };
}
