/**
 * A stream of chat completions becomes a reply.
 *
 * @module
 */

import type { BlockWriter } from "../../../src/core/block_writer.ts";
import { type AgentError, ContentFilteredError } from "../../../src/core/errors.ts";
import { isJsonObject } from "../../../src/core/json.ts";
import type { Usage } from "../../../src/core/usage.ts";
import { classifyStreamError, type ErrorOrigin } from "../../kit/errors/classify.ts";
import type { ReplyReader } from "../../kit/stream/event_stream.ts";
import { ChatCalls, type ChatCallsOptions } from "./tool_calls.ts";
import { chatCost, chatUsage } from "./usage.ts";
import type { WireChoice, WireChunk, WireContentPart, WireDelta, WireUsage } from "./wire.ts";
import { textOf } from "../../kit/stream/wire_values.ts";
import { ReasoningDetails } from "./reasoning_details.ts";

/** Options of {@linkcode ChatReply}. */
export interface ChatReplyOptions extends ChatCallsOptions {
  /** Whose errors these are. */
  readonly origin: ErrorOrigin;
}

/** Kind of the extension blocks that keep reasoning for OpenRouter and the gateways after its model. */
export const REASONING_DETAILS = "openai.reasoning_details";

/** Signature of reasoning that the server wants back as `reasoning_content`. */
export const REASONING_CONTENT = "reasoning_content";

/** What the providers' reasons to stop mean; a filter and a failure are none. */
const STOP_REASONS: Readonly<Record<string, "stop" | "length" | "tool_use">> = {
  stop: "stop",
  eos: "stop",
  end_turn: "stop",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  model_context_window_exceeded: "length",
  tool_calls: "tool_use",
  function_call: "tool_use",
};
const FILTER_REASONS = ["content_filter", "sensitive", "refusal"];
/** DeepSeek and z.ai end a reply so when their own servers fail; Mistral and OpenRouter say `error`. */
const FAILURE_REASONS = ["error", "network_error", "insufficient_system_resource"];

/** Reads the chunks of one stream. */
export class ChatReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #origin: ErrorOrigin;
  readonly #calls: ChatCalls;
  readonly #details = new ReasoningDetails();
  #counts: WireUsage | null = null;
  #finishReason: string | null = null;
  #refusal = "";
  #thinksInContent = false;
  #isFiltered = false;

  /** Makes a reader that writes with `writer`. */
  constructor(writer: BlockWriter, options: ChatReplyOptions) {
    this.#writer = writer;
    this.#origin = options.origin;
    this.#calls = new ChatCalls(writer, options);
  }

  /** Tokens, once told. */
  get usage(): Usage | undefined {
    return this.#counts === null ? undefined : chatUsage(this.#counts);
  }

  /** Reads one chunk. */
  read(data: string): void {
    if (data.startsWith("[DONE]")) return this.#finish();
    const chunk: WireChunk = JSON.parse(data);
    const counts = chunk.usage ?? chunk.x_groq?.usage;
    if (counts) this.#counts = { ...this.#counts, ...counts };
    if (chunk.error || chunk.object === "error") throw classifyStreamError(chunk, this.#origin);
    const choice = firstChoice(chunk);
    if (!choice) return;
    if (choice.delta) this.#append(choice.delta);
    this.#finishReason = textOf(choice.finish_reason) || this.#finishReason;
    if (choice.content_filter_results) this.#isFiltered ||= hasFiltered(choice);
  }

  /** Some servers close without `[DONE]`; a reply that gave its reason to stop and then its tokens is complete. */
  end(): void {
    if (this.#finishReason !== null && this.#counts !== null) this.#finish();
  }

  #append(delta: WireDelta): void {
    const { content, tool_calls: calls, refusal } = delta;
    this.#think(delta);
    if (content) this.#say(content);
    if (refusal) this.#refusal += textOf(refusal);
    if (!calls || calls.length === 0) return;
    this.#endThinking();
    for (const call of calls) this.#calls.append(call);
  }

  /** Reasoning comes before what it leads to, also within one chunk. */
  #think(delta: WireDelta): void {
    const { reasoning_content: content, reasoning, reasoning_details: details } = delta;
    if (content) {
      this.#thinksInContent = true;
      this.#writer.thinking(textOf(content));
    } else if (reasoning) {
      this.#writer.thinking(textOf(reasoning));
    }
    if (details) this.#details.append(details);
  }

  #say(content: string | readonly WireContentPart[]): void {
    if (typeof content === "string") {
      this.#endThinking();
      return this.#writer.text(content);
    }
    for (const part of content) {
      if (part.thinking) this.#writer.thinking(textOfParts(part.thinking));
      else this.#writer.text(textOf(part.text));
      if (part.signature) this.#writer.closeThinking({ signature: textOf(part.signature) });
    }
  }

  #endThinking(): void {
    if (!this.#thinksInContent) return;
    this.#thinksInContent = false;
    this.#writer.closeProse({ signature: REASONING_CONTENT });
  }

  #finish(): void {
    this.#endThinking();
    const reason = this.#finishReason ?? "stop";
    const stopReason = STOP_REASONS[reason];
    this.#calls.end({ wasCut: stopReason === "length" });
    const kept = this.#details.kept();
    if (kept.length > 0) this.#writer.extension(REASONING_DETAILS, kept);
    const error = this.#errorOf(reason);
    if (error) return this.#writer.fail(error, this.usage);
    if (!stopReason) this.#writer.warning("unknown_stop_reason", `Unknown stop reason: ${reason}`);
    const counts = this.#counts ?? {};
    this.#writer.finish({
      // Some servers say `stop` when they mean `tool_calls`, and the other way round.
      stopReason: stopReason === "length" ? "length" : this.#calls.any ? "tool_use" : "stop",
      usage: chatUsage(counts),
      cost: chatCost(counts),
    });
  }

  #errorOf(reason: string): AgentError | undefined {
    const { provider } = this.#origin;
    if (this.#refusal !== "") {
      return new ContentFilteredError(`${provider} refused: ${this.#refusal}`, { provider });
    }
    if (this.#isFiltered || FILTER_REASONS.includes(reason)) {
      return new ContentFilteredError(`${provider} filtered the reply`, { provider });
    }
    if (!FAILURE_REASONS.includes(reason)) return undefined;
    return classifyStreamError(
      { error: { code: 500, message: `It stopped with ${reason}` } },
      this.#origin,
    );
  }
}

/** A request for several replies (`n`, through `extra`) gets the first one. */
function firstChoice({ choices }: WireChunk): WireChoice | undefined {
  const choice = choices?.[0];
  return choice?.index ? choices?.find(({ index = 0 }) => index === 0) : choice;
}

/** Azure tells what each of its filters did; some only look. */
function hasFiltered({ content_filter_results: results }: WireChoice): boolean {
  return Object.values(results ?? {}).some((found) =>
    isJsonObject(found) && found["filtered"] === true
  );
}

function textOfParts(parts: string | readonly WireContentPart[]): string {
  return typeof parts === "string" ? parts : parts.map(({ text = "" }) => text).join("");
}
