/**
 * Reader for streams of the chat completions API.
 *
 * @module
 */

import type { BlockWriter } from "../../../src/core/block_writer.ts";
import type { Citation } from "../../../src/core/content.ts";
import { type AgentError, ContentFilteredError, NetworkError } from "../../../src/core/errors.ts";
import type { ServiceTier } from "../../../src/core/stream.ts";
import { isJsonObject } from "../../../src/core/json.ts";
import type { Usage } from "../../../src/core/usage.ts";
import { classifyStreamError, type ErrorOrigin } from "../../kit/errors/classify.ts";
import { isErrorValue } from "../../kit/errors/error_body.ts";
import type { ProviderCall } from "../../kit/provider.ts";
import type { ReplyReader } from "../../kit/stream/event_stream.ts";
import { toCitations } from "../server/citations.ts";
import type { ChatDialect } from "./dialect.ts";
import { ChatCallAssembler } from "./tool_calls.ts";
import { toChatCost, toChatUsage } from "./usage.ts";
import {
  REASONING_CONTENT,
  REASONING_DETAILS,
  type WireChoice,
  type WireChunk,
  type WireContentPart,
  type WireDelta,
  type WireToolCall,
  type WireUsage,
} from "./wire.ts";
import { readList, readObject, readText, textOrEmpty } from "../../kit/stream/wire_values.ts";
import { ServerRequests } from "../../kit/stream/server_requests.ts";
import { countTierRequest } from "../../kit/stream/service_tier.ts";
import { createSecondReplyError, selectFirstReply } from "../../kit/stream/single_reply.ts";
import { UnknownParts } from "../../kit/stream/unknown_parts.ts";
import { DeltaTemplate } from "../../kit/stream/delta_template.ts";
import { getContinuedText, RepeatedStart } from "./repeated_start.ts";
import { ReasoningDetails } from "./reasoning_details.ts";

/** Stop reasons by finish reason in lower case, except those of filters and failures. */
const STOP_REASONS: Readonly<Record<string, "stop" | "length" | "tool_use">> = {
  stop: "stop",
  eos: "stop",
  eos_token: "stop",
  stop_sequence: "stop",
  end_turn: "stop",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  model_context_window_exceeded: "length",
  tool_calls: "tool_use",
  function_call: "tool_use",
};
/** Finish reasons of filtered content, among them those of Google's models at gateways. */
const FILTER_REASONS = [
  "content_filter",
  "sensitive",
  "refusal",
  "safety",
  "recitation",
  "blocklist",
  "prohibited_content",
];
/** Finish reasons of server errors: `error` at Mistral and OpenRouter, `abort` at vLLM, the others at DeepSeek and z.ai. */
const FAILURE_REASONS = ["error", "abort", "network_error", "insufficient_system_resource"];

/** Members of a delta with media, which requests for them return. */
const MEDIA_MEMBERS = ["audio", "images"] as const;

/** Properties of a server on which the reading of its replies depends. */
type ReplyDialect = Pick<
  ChatDialect,
  "sendsDone" | "unsupported" | "serviceTiers" | "repeatsStart" | "isRegional"
>;

/** Reads the chunks of one reply. */
export class ChatReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #origin: ErrorOrigin;
  readonly #calls: ChatCallAssembler;
  readonly #unknown: UnknownParts;
  readonly #sendsDone: boolean;
  /** Whether the request has server tools, whose use the API does not count. */
  readonly #usesServerTools: boolean;
  readonly #textTemplate = new DeltaTemplate<WireChunk>(
    "content",
    (chunk) => getOnlyDelta(chunk)?.content,
  );
  readonly #argumentsTemplate = new DeltaTemplate<WireChunk>(
    "arguments",
    (chunk) => getOnlyDelta(chunk)?.tool_calls?.[0]?.function?.arguments,
  );
  readonly #details = new ReasoningDetails();
  readonly #start: RepeatedStart;
  readonly #requestedTier: ServiceTier | undefined;
  readonly #isRegional: boolean;
  /** The current chunk. */
  #data = "";
  #servedTier: string | undefined;
  #wireUsage: WireUsage | null = null;
  #finishReason: string | null = null;
  /** Id of the response; chunks after its end do not change it. */
  #responseId = "";
  #refusal = "";
  #citations: readonly Citation[] = [];
  #hasOpenReasoning = false;
  #isFiltered = false;

  /** Creates a reader for the reply of a call. */
  constructor(call: ProviderCall, dialect: ReplyDialect) {
    const { sendsDone = false, unsupported, serviceTiers, repeatsStart = false } = dialect;
    this.#start = new RepeatedStart(
      repeatsStart ? getContinuedText(call.request.context.messages) : "",
    );
    this.#sendsDone = sendsDone;
    const sendsTier = !unsupported.includes("serviceTier") && serviceTiers === undefined;
    this.#requestedTier = sendsTier ? call.request.options.serviceTier : undefined;
    this.#isRegional = dialect.isRegional ?? false;
    this.#usesServerTools = (call.request.options.serverTools ?? []).length > 0;
    this.#writer = call.writer;
    this.#origin = call.origin;
    this.#calls = new ChatCallAssembler(call);
    this.#unknown = new UnknownParts(call.writer);
  }

  /** Usage, once received. */
  get usage(): Usage | undefined {
    return this.#wireUsage === null ? undefined : this.#countUsage(this.#wireUsage);
  }

  /** Reads the data of one chunk. */
  read(data: string): void {
    if (this.#textTemplate.read(data) || this.#argumentsTemplate.read(data)) return;
    if (data.startsWith("[DONE]")) return this.#readDone();
    this.#data = data;
    const chunk: WireChunk = JSON.parse(data);
    this.#readChunk(chunk);
    const delta = getOnlyDelta(chunk);
    if (delta) this.#learn(data, delta);
  }

  /** Creates templates from a chunk with nothing but a delta. */
  #learn(data: string, { content, tool_calls: calls }: WireDelta): void {
    if (typeof content === "string" && content !== "") {
      const append = (text: string) => text === "" ? undefined : this.#appendContent(text);
      this.#textTemplate.learn(data, content, append);
    }
    const { index = null, id, function: called } = calls?.[0] ?? {};
    const args = called?.arguments;
    if (typeof args !== "string" || args === "" || id || called?.name) return;
    this.#argumentsTemplate.learn(data, args, (json) => {
      this.#calls.append([{ index, function: { arguments: json } }]);
    });
  }

  #readChunk(chunk: WireChunk): void {
    this.#writer.setResponseId(chunk.id);
    this.#servedTier = textOrEmpty(chunk.service_tier) || this.#servedTier;
    const counts = chunk.usage ?? chunk.x_groq?.usage;
    if (counts) this.#wireUsage = { ...this.#wireUsage, ...counts };
    if (chunk.x_groq?.error) throw classifyStreamError(chunk.x_groq, this.#origin);
    if (chunk.error || (!chunk.choices && isErrorValue(chunk))) {
      throw classifyStreamError(chunk, this.#origin);
    }
    if (chunk.citations) this.#citations = toCitations(chunk.citations);
    const choice = selectFirstReply(readList(chunk.choices), this.#unknown);
    if (!choice) return;
    if (choice.usage) this.#wireUsage = { ...this.#wireUsage, ...choice.usage };
    const delta = readObject(choice.delta);
    this.#checkResponse(chunk.id, delta);
    if (delta) this.#append(delta);
    // Some servers repeat the complete message after its deltas.
    const message = readObject(choice.message);
    if (message && !this.#hasContent()) this.#append(message);
    if (choice.error) throw classifyStreamError({ error: choice.error }, this.#origin);
    this.#finishReason = textOrEmpty(choice.finish_reason) || this.#finishReason;
    if (choice.content_filter_results) this.#isFiltered ||= hasFilteredContent(choice);
  }

  /**
   * Refuses a second response after the end of the first, such as a gateway sends when it repeats a failed request within
   * one stream. Some servers send another id with each chunk, and Azure results of filters after the end.
   */
  #checkResponse(id: unknown, delta: WireDelta | undefined): void {
    const responseId = textOrEmpty(id) || this.#responseId;
    if (this.#finishReason === null) {
      this.#responseId = responseId;
      return;
    }
    const isOther = this.#responseId !== "" && responseId !== this.#responseId;
    const hasContent = delta !== undefined && (delta.content || toCalls(delta).length > 0);
    if (isOther && hasContent) throw createSecondReplyError(this.#origin, "response");
  }

  /** Ends a reply with a finish reason but without `[DONE]`, which some servers omit. */
  end(): void {
    if (this.#sendsDone && this.#wireUsage === null) return;
    if (this.#finishReason !== null) this.#finish(this.#finishReason);
  }

  #readDone(): void {
    if (this.#finishReason !== null) return this.#finish(this.#finishReason);
    // Some servers send no finish reason. Their usage shows that the reply is complete; [DONE] also follows failures.
    if (this.#wireUsage !== null) return this.#finish("stop");
    const { provider } = this.#origin;
    throw new NetworkError(`${provider}: the reply ended without a finish reason`, { provider });
  }

  #hasContent(): boolean {
    return this.#writer.hasContent || this.#calls.hasCalls;
  }

  #append(delta: WireDelta): void {
    const { content, refusal, annotations } = delta;
    const calls = toCalls(delta);
    this.#appendThinking(delta);
    if (content) this.#appendContent(content);
    this.#refusal += readText(refusal);
    if (annotations) this.#addCitations(annotations);
    for (const name of MEDIA_MEMBERS) if (delta[name]) this.#unknown.report("content", name);
    if (calls.length === 0) return;
    this.#endThinking();
    this.#calls.append(calls, this.#data);
  }

  #addCitations(annotations: unknown): void {
    this.#citations = [...this.#citations, ...toCitations(annotations)];
  }

  /** Writes the reasoning of a chunk, before its other content. */
  #appendThinking(delta: WireDelta): void {
    const { reasoning_content: content, reasoning, reasoning_details: details } = delta;
    if (content) {
      this.#hasOpenReasoning = true;
      this.#writer.writeThinking(readText(content));
    } else {
      this.#writer.writeThinking(readText(reasoning));
    }
    if (details) this.#details.append(details);
  }

  #appendContent(content: string | readonly WireContentPart[]): void {
    if (typeof content === "string") {
      this.#endThinking();
      return this.#writer.writeText(this.#start.take(content));
    }
    for (const part of readList(content)) this.#appendPart(part);
  }

  #appendPart(part: WireContentPart): void {
    const { type, text, thinking, signature } = readObject(part) ?? {};
    switch (type) {
      case "thinking":
        this.#appendThinkingParts(thinking);
        if (signature) this.#writer.closeThinking({ signature: textOrEmpty(signature) });
        return;
      case "text":
      case undefined:
        return this.#writer.writeText(this.#start.take(readText(text)));
      default:
        if (isCitation(part)) this.#addCitations([part]);
        else this.#unknown.report("content", type);
    }
  }

  #appendThinkingParts(thinking: WireContentPart["thinking"]): void {
    const pieces = typeof thinking === "string" ? [{ text: thinking }] : readList(thinking);
    for (const piece of pieces) {
      this.#writer.writeThinking(readText(piece.text));
      if (isCitation(piece)) this.#addCitations([piece]);
    }
  }

  #endThinking(): void {
    if (!this.#hasOpenReasoning) return;
    this.#hasOpenReasoning = false;
    this.#writer.closeTextOrThinking({ signature: REASONING_CONTENT });
  }

  #finish(wireReason: string): void {
    const reason = wireReason.toLowerCase();
    this.#endThinking();
    this.#writer.writeText(this.#start.end());
    const citations = this.#citations;
    if (citations.length > 0) this.#writer.closeText({ citations });
    const stopReason = STOP_REASONS[reason];
    this.#calls.end({ wasTruncated: stopReason === "length" });
    const details = this.#details.getReplayDetails();
    if (details.length > 0) this.#writer.writeExtension(REASONING_DETAILS, details);
    const error = this.#toError(reason);
    if (error) return this.#writer.fail(error, this.usage);
    if (!stopReason) {
      this.#writer.warning("unknown_stop_reason", `Unknown stop reason: ${wireReason}`);
    }
    const counts = this.#wireUsage ?? {};
    this.#writer.finish({
      // Some servers send `stop` with tool calls, or `tool_calls` without any.
      stopReason: stopReason === "length" ? "length" : this.#calls.hasCalls ? "tool_use" : "stop",
      usage: this.#countUsage(counts),
      cost: toChatCost(counts),
    });
  }

  /** Converts token counts, and adds what has a price of its own that is not known. */
  #countUsage(counts: WireUsage): Usage {
    const requests = new ServerRequests();
    if (this.#usesServerTools) requests.add("serverToolRequests");
    if (this.#isRegional) requests.add("regionalRequests");
    const reported = counts.service_tier ?? this.#servedTier;
    countTierRequest(requests, { reported, requested: this.#requestedTier });
    return requests.addTo(toChatUsage(counts));
  }

  #toError(reason: string): AgentError | undefined {
    const { provider } = this.#origin;
    if (this.#refusal !== "") {
      return new ContentFilteredError(`${provider} refused: ${this.#refusal}`, { provider });
    }
    if (this.#isFiltered || FILTER_REASONS.includes(reason)) {
      return new ContentFilteredError(`${provider} filtered the reply`, { provider });
    }
    if (!FAILURE_REASONS.includes(reason)) return undefined;
    return classifyStreamError(
      { error: { code: 500, message: `The reply ended with finish_reason ${reason}` } },
      this.#origin,
    );
  }
}

/** Returns the pieces of calls. Some versions of TGI send one without a list, and old servers have one call only. */
function toCalls(
  { tool_calls: calls, function_call: onlyCall }: WireDelta,
): readonly WireToolCall[] {
  const pieces: unknown = calls;
  if (isJsonObject(pieces) && isJsonObject(pieces["function"])) return [pieces];
  return readList(calls ?? (onlyCall ? [{ index: 0, function: onlyCall }] : []));
}

/** Returns the delta of a chunk that has nothing else: text, or a piece of one call. */
function getOnlyDelta({ usage, x_groq, choices }: WireChunk): WireDelta | undefined {
  const [choice] = choices ?? [];
  if (usage || x_groq || choices?.length !== 1 || !choice?.delta || choice.index) return undefined;
  const { delta, finish_reason, message, error, content_filter_results: filters } = choice;
  if (finish_reason || message || error || filters || choice.usage) return undefined;
  const members = Object.entries(delta).filter(([name, value]) => value && name !== "role");
  const isCall = delta.tool_calls?.length === 1;
  return members.length === 1 && (delta.content || isCall) ? delta : undefined;
}

/** Whether a content filter of Azure has blocked content rather than only annotated it. */
function hasFilteredContent({ content_filter_results: results }: WireChoice): boolean {
  return Object.values(results ?? {}).some((result) =>
    isJsonObject(result) && result["filtered"] === true
  );
}

/** Whether a part refers to a source of the text before it. */
function isCitation({ type }: WireContentPart): boolean {
  return type === "reference" || type === "tool_reference";
}
