/**
 * Reader for streams of the chat completions API.
 *
 * @module
 */

import {
  type AgentError,
  ContentFilteredError,
  NetworkError,
} from "../../../src/core/errors/errors.ts";
import { isJsonObject } from "../../../src/core/json/json.ts";
import type { Usage } from "../../../src/core/models/usage.ts";
import type { BlockWriter } from "../../../src/core/streams/block_writer.ts";
import { classifyStreamError, type ErrorOrigin } from "../../kit/errors/classify.ts";
import { isErrorValue } from "../../kit/errors/error_body.ts";
import type { ProviderCall } from "../../kit/provider.ts";
import type { ReplyReader } from "../../kit/stream/event_stream.ts";
import {
  createSecondReplyError,
  ResponseId,
  selectFirstReply,
} from "../../kit/stream/single_reply.ts";
import {
  findEnding,
  type StopReasons,
  warnUnknownStopReason,
} from "../../kit/stream/stop_reasons.ts";
import { UnknownParts } from "../../kit/stream/unknown_parts.ts";
import { readList, readObject, textOrEmpty } from "../../kit/stream/wire_values.ts";
import { DeltaTemplates } from "./delta_templates.ts";
import type { ChatDialect } from "./dialect.ts";
import { isContent, ReplyContent } from "./reply_content.ts";
import { type PriceDialect, ReplyUsage } from "./reply_usage.ts";
import type { WireChoice, WireChunk, WireDelta } from "./wire.ts";

type Ending = "complete" | "truncated" | "filtered" | "failed";

const STOP_REASONS: StopReasons<Ending> = {
  complete: [
    "stop",
    "eos",
    "eos_token",
    "stop_sequence",
    "end_turn",
    "tool_calls",
    "function_call",
  ],
  truncated: ["length", "max_tokens", "model_length", "model_context_window_exceeded"],
  // Those of Google's models at gateways among them.
  filtered: [
    "content_filter",
    "sensitive",
    "refusal",
    "safety",
    "recitation",
    "blocklist",
    "prohibited_content",
  ],
  // `error` at Mistral and OpenRouter, `abort` at vLLM, the others at DeepSeek and z.ai.
  failed: ["error", "abort", "network_error", "insufficient_system_resource"],
};

/** Properties of a server on which the reading of its replies depends. */
type ReplyDialect = PriceDialect & Pick<ChatDialect, "sendsDone" | "repeatsStart">;

/** Reads the chunks of one reply. */
export class ChatReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #origin: ErrorOrigin;
  readonly #unknown: UnknownParts;
  readonly #sendsDone: boolean;
  readonly #content: ReplyContent;
  readonly #templates: DeltaTemplates;
  readonly #usage: ReplyUsage;
  readonly #responseId = new ResponseId();
  #finishReason = "";
  /** Whether a content filter has blocked content. */
  #isFiltered = false;

  /** Creates a reader for the reply of a call. */
  constructor(call: ProviderCall, dialect: ReplyDialect) {
    const { sendsDone = false, repeatsStart = false } = dialect;
    const unknown = new UnknownParts(call.writer);
    this.#writer = call.writer;
    this.#origin = call.origin;
    this.#unknown = unknown;
    this.#sendsDone = sendsDone;
    this.#content = new ReplyContent(call, { unknown, repeatsStart });
    this.#templates = new DeltaTemplates(this.#content);
    this.#usage = new ReplyUsage(call.request, dialect);
  }

  /** Usage, once received. */
  get usage(): Usage | undefined {
    return this.#usage.isKnown ? this.#usage.get() : undefined;
  }

  /** Reads the data of one chunk. */
  read(data: string): void {
    if (this.#templates.read(data)) return;
    if (data.startsWith("[DONE]")) return this.#readDone();
    const chunk: WireChunk = JSON.parse(data);
    this.#readChunk(chunk, data);
    this.#templates.learn(data, chunk);
  }

  /** Ends a reply with a finish reason but without `[DONE]`, which some servers omit. */
  end(): void {
    if (this.#sendsDone && !this.#usage.isKnown) return;
    if (this.#finishReason !== "") this.#finish(this.#finishReason);
  }

  #readDone(): void {
    if (this.#finishReason !== "") return this.#finish(this.#finishReason);
    // Some servers send no finish reason. Their usage shows that the reply is complete; [DONE] also follows failures.
    if (this.#usage.isKnown) return this.#finish("stop");
    const { provider } = this.#origin;
    throw new NetworkError(`${provider}: the reply ended without a finish reason`, { provider });
  }

  #readChunk(chunk: WireChunk, data: string): void {
    this.#writer.setResponseId(chunk.id);
    this.#usage.setTier(chunk.service_tier);
    this.#usage.update(chunk.usage ?? chunk.x_groq?.usage);
    if (chunk.x_groq?.error) throw classifyStreamError(chunk.x_groq, this.#origin);
    if (chunk.error || (!chunk.choices && isErrorValue(chunk))) {
      throw classifyStreamError(chunk, this.#origin);
    }
    if (chunk.citations) this.#content.setCitations(chunk.citations);
    const choice = selectFirstReply(readList(chunk.choices), this.#unknown);
    if (choice) this.#readChoice(choice, { id: chunk.id, data });
  }

  #readChoice(choice: WireChoice, { id, data }: { id: unknown; data: string }): void {
    this.#usage.update(choice.usage);
    const delta = readObject(choice.delta);
    this.#checkResponse(id, delta);
    if (delta) this.#content.append(delta, data);
    // Some servers repeat the complete message after its deltas.
    const message = readObject(choice.message);
    if (message && this.#content.isEmpty) this.#content.append(message, data);
    if (choice.error) throw classifyStreamError({ error: choice.error }, this.#origin);
    this.#finishReason = textOrEmpty(choice.finish_reason) || this.#finishReason;
    if (choice.content_filter_results) this.#isFiltered ||= hasFilteredContent(choice);
  }

  /**
   * Refuses a second response after the end of the first, such as a gateway sends when it repeats a failed request within
   * one stream. Some servers send another id with each chunk, and Azure results of filters after the end.
   */
  #checkResponse(id: unknown, delta: WireDelta | undefined): void {
    const isOther = this.#responseId.isOther(id, { hasEnded: this.#finishReason !== "" });
    if (!isOther || !delta || !isContent(delta)) return;
    throw createSecondReplyError(this.#origin, "response");
  }

  #finish(reason: string): void {
    const ending = findEnding(STOP_REASONS, reason);
    const isTruncated = ending === "truncated";
    this.#content.end({ isTruncated });
    const error = this.#findError(ending, reason);
    if (error) return this.#writer.fail(error, this.usage);
    if (ending === undefined) warnUnknownStopReason(reason, this.#writer);
    // Some servers send `stop` with tool calls, or `tool_calls` without any.
    const stopReason = this.#content.hasCalls ? "tool_use" : "stop";
    this.#writer.finish({
      stopReason: isTruncated ? "length" : stopReason,
      usage: this.#usage.get(),
      cost: this.#usage.cost,
    });
  }

  #findError(ending: Ending | undefined, reason: string): AgentError | undefined {
    const { provider } = this.#origin;
    const { refusal } = this.#content;
    if (refusal !== "") {
      return new ContentFilteredError(`${provider} refused: ${refusal}`, { provider });
    }
    if (this.#isFiltered || ending === "filtered") {
      return new ContentFilteredError(`${provider} filtered the reply`, { provider });
    }
    if (ending !== "failed") return undefined;
    const message = `The reply ended with finish_reason ${reason.toLowerCase()}`;
    return classifyStreamError({ error: { code: 500, message } }, this.#origin);
  }
}

/** Whether a content filter of Azure has blocked content rather than only annotated it. */
function hasFilteredContent({ content_filter_results: results }: WireChoice): boolean {
  return Object.values(results ?? {}).some((result) =>
    isJsonObject(result) && result["filtered"] === true
  );
}
