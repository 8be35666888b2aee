/**
 * Converts Google's event stream to a reply.
 *
 * @module
 */

import type { BlockWriter } from "../../src/core/block_writer.ts";
import type { Citation } from "../../src/core/content.ts";
import { type AgentError, ContentFilteredError, StreamError } from "../../src/core/errors.ts";
import type { ServiceTier } from "../../src/core/stream.ts";
import type { Usage } from "../../src/core/usage.ts";
import { classifyStreamError, type ErrorOrigin } from "../kit/errors/classify.ts";
import type { ProviderCall } from "../kit/provider.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import { ServerRequests } from "../kit/stream/server_requests.ts";
import { countTierRequest } from "../kit/stream/service_tier.ts";
import { createSecondReplyError, selectFirstReply } from "../kit/stream/single_reply.ts";
import { UnknownParts } from "../kit/stream/unknown_parts.ts";
import {
  countOrZero,
  objectsOrEmpty,
  readList,
  readObject,
  readText,
  textOrEmpty,
} from "../kit/stream/wire_values.ts";
import { GoogleCallAssembler } from "./calls.ts";
import { addCitations, findUnreadPages } from "./citations.ts";
import type { WireCandidate, WireChunk, WireModalityCount, WirePart, WireUsage } from "./wire.ts";

/** Type of the extension blocks that store Google-specific parts, such as executed code, searches and images. */
export const GOOGLE_PART = "google.part";

/** Finish reasons of filtered content. */
const FILTER_REASONS = [
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION",
];
/** Finish reasons of malformed output; a retry may succeed. */
const MALFORMED_REASONS = [
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
];
/** Finish reasons of an incomplete reply. */
const FAILURE_REASONS = ["OTHER", "IMAGE_OTHER", "NO_IMAGE", "MISSING_THOUGHT_SIGNATURE"];

/** Matches models whose searches cost per prompt; those of later models cost per query. */
const FEE_PER_PROMPT = /gemini-[12]\./;

/** Reads the events of one stream and writes the reply. */
export class GoogleReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #origin: ErrorOrigin;
  readonly #calls: GoogleCallAssembler;
  readonly #unknown: UnknownParts;
  readonly #requests = new ServerRequests();
  readonly #isFeePerPrompt: boolean;
  readonly #requestedTier: ServiceTier | undefined;
  #wireUsage: WireUsage | null = null;
  #responseId = "";
  #finishReason = "";
  #finishMessage = "";
  #textSignature: string | undefined;
  /** Whether the reply has text or an item of the provider, rather than only thinking. */
  #hasContent = false;
  /** The last chunk, if it has the start of a call and the number of output tokens so far. */
  #countedCalls: string | undefined;
  #citations: readonly Citation[] = [];
  readonly #unreadPages = new Set<string>();

  /** Creates a reader for the reply of a call. Vertex AI has no service tiers to request. */
  constructor(call: ProviderCall, { isVertex }: { readonly isVertex: boolean }) {
    this.#writer = call.writer;
    this.#origin = call.origin;
    this.#requestedTier = isVertex ? undefined : call.request.options.serviceTier;
    this.#isFeePerPrompt = FEE_PER_PROMPT.test(call.request.model.modelId);
    this.#unknown = new UnknownParts(call.writer);
    this.#calls = new GoogleCallAssembler(call, this.#unknown);
  }

  /** Tokens counted so far. */
  get usage(): Usage | undefined {
    return this.#wireUsage === null ? undefined : this.#requests.addTo(toUsage(this.#wireUsage));
  }

  /** Reads one event. */
  read(json: string): void {
    // Another call would add to the output tokens, so that an equal chunk is one that was sent twice.
    if (json === this.#countedCalls) return;
    const chunk: WireChunk = JSON.parse(json);
    this.#countedCalls = hasCountedCalls(chunk) ? json : undefined;
    this.#writer.setResponseId(chunk.responseId);
    if (chunk.usageMetadata) this.#updateUsage(chunk.usageMetadata);
    if (chunk.error) throw classifyStreamError(chunk, this.#origin);
    const blockReason = textOrEmpty(chunk.promptFeedback?.blockReason);
    if (blockReason !== "") throw this.#toBlockedError(blockReason, chunk);
    const candidate = selectFirstReply(readList(chunk.candidates), this.#unknown);
    if (!candidate) return;
    const parts = readList(candidate.content?.parts);
    this.#checkResponse(chunk.responseId, parts);
    for (const part of parts) this.#append(part, json);
    this.#readSources(candidate);
    this.#finishReason = textOrEmpty(candidate.finishReason) || this.#finishReason;
    this.#finishMessage = textOrEmpty(candidate.finishMessage) || this.#finishMessage;
  }

  #updateUsage(counts: WireUsage): void {
    this.#wireUsage = { ...this.#wireUsage, ...counts };
    const { serviceTier, trafficType } = this.#wireUsage;
    const reported = serviceTier ?? trafficType;
    countTierRequest(this.#requests, { reported, requested: this.#requestedTier });
  }

  /**
   * Refuses a second response after the end of the first, such as a gateway sends when it repeats a failed request within
   * one stream. Older models send a finish reason with every chunk, all with the same id, and gateways another id with a
   * chunk of counts after the end.
   */
  #checkResponse(id: unknown, parts: readonly WirePart[]): void {
    const responseId = textOrEmpty(id) || this.#responseId;
    if (this.#finishReason === "") {
      this.#responseId = responseId;
      return;
    }
    const isOther = this.#responseId !== "" && responseId !== this.#responseId;
    if (isOther && parts.some(hasContent)) throw createSecondReplyError(this.#origin, "response");
  }

  #readSources(candidate: WireCandidate): void {
    const { groundingMetadata, citationMetadata, urlContextMetadata } = candidate;
    if (groundingMetadata || citationMetadata || urlContextMetadata) {
      this.#citations = addCitations(this.#citations, candidate);
    }
    this.#countSearches(groundingMetadata);
    for (const page of findUnreadPages(candidate)) {
      if (this.#unreadPages.has(page)) continue;
      this.#unreadPages.add(page);
      this.#writer.warning("page_not_read", `${this.#origin.provider} could not read ${page}`);
    }
  }

  /** Counts the searches, which the last chunk reports; empty ones and those of other tools have no query. */
  #countSearches(grounding: WireCandidate["groundingMetadata"]): void {
    const queries = readList(grounding?.webSearchQueries).filter((query) => query !== "");
    if (queries.length > 0) {
      this.#requests.set("webSearchRequests", this.#isFeePerPrompt ? 1 : queries.length);
    }
    const hasMaps = readList(grounding?.groundingChunks).some(({ maps }) => maps);
    if (hasMaps) this.#requests.set("mapsRequests", 1);
  }

  /** Finishes the reply at the end of the body if a finish reason was received; Google sends no final event. */
  end(): void {
    if (this.#finishReason !== "") this.#finish();
  }

  #append(part: WirePart, json: string): void {
    const call = readObject(readObject(part)?.functionCall);
    if (call) {
      this.#endText();
      this.#calls.append(call, { part, json });
    } else if (isProviderPart(part)) {
      this.#endText();
      this.#hasContent = true;
      this.#writer.writeExtension(GOOGLE_PART, part);
    } else if (part.thought) {
      this.#endText();
      this.#writer.writeThinking(readText(part.text));
      const signature = textOrEmpty(part.thoughtSignature);
      if (signature !== "") this.#writer.closeThinking({ signature });
    } else {
      const text = readText(part.text);
      this.#hasContent ||= text !== "";
      this.#writer.writeText(text);
      this.#textSignature = textOrEmpty(part.thoughtSignature) || this.#textSignature;
    }
  }

  /** Closes text with a signature, which may come with any part of the text or after it, or with sources. */
  #endText(citations: readonly Citation[] = []): void {
    const signature = this.#textSignature;
    this.#textSignature = undefined;
    if (citations.length > 0) this.#writer.closeText({ signature, citations });
    else if (signature !== undefined) this.#writer.closeText({ signature });
  }

  #finish(): void {
    // The sources come with the last chunk.
    this.#endText(this.#citations);
    const reason = this.#finishReason.toUpperCase();
    const isCut = reason === "MAX_TOKENS" || reason === "CONTINUATION";
    this.#calls.end({ wasCut: isCut });
    const error = this.#toError(reason) ?? this.#toEmptyError(reason);
    const usage = this.#requests.addTo(toUsage(this.#wireUsage ?? {}));
    if (error) return this.#writer.fail(error, usage);
    if (!isCut && reason !== "STOP" && reason !== "FUNCTION_CALL") {
      this.#writer.warning("unknown_stop_reason", `Unknown stop reason: ${this.#finishReason}`);
    }
    const stopReason = this.#calls.hasCalls ? "tool_use" : "stop";
    this.#writer.finish({ stopReason: isCut ? "length" : stopReason, usage });
  }

  #toError(reason: string): AgentError | undefined {
    const { provider } = this.#origin;
    const details = this.#finishMessage === "" ? reason : `${reason}, ${this.#finishMessage}`;
    if (FILTER_REASONS.includes(reason)) {
      return new ContentFilteredError(`${provider} filtered the reply: ${details}`, { provider });
    }
    const retryable = MALFORMED_REASONS.includes(reason);
    if (!retryable && !FAILURE_REASONS.includes(reason)) return undefined;
    return new StreamError(`${provider} ended the reply early: ${details}`, {
      provider,
      retryable,
    });
  }

  /**
   * Returns the error of a reply without text and without calls. Gemini models end some replies so, as after a result of a
   * tool, although they are not done; the next attempt usually has content.
   */
  #toEmptyError(reason: string): AgentError | undefined {
    if (reason !== "STOP" || this.#hasContent || this.#calls.hasCalls) return undefined;
    const { provider } = this.#origin;
    return new StreamError(`${provider}: the reply is empty: continue, or prompt in other words`, {
      provider,
      retryable: true,
    });
  }

  #toBlockedError(reason: string, { promptFeedback }: WireChunk): AgentError {
    const { provider } = this.#origin;
    const details = textOrEmpty(promptFeedback?.blockReasonMessage);
    const message = `${provider} blocked the prompt: ${reason}${details && `, ${details}`}`;
    return new ContentFilteredError(message, { provider });
  }
}

/** Whether a chunk has the start of a call and the number of output tokens so far. */
function hasCountedCalls({ candidates, usageMetadata }: WireChunk): boolean {
  const parts = readList(candidates).flatMap((each) => readList(each?.content?.parts));
  return countOrZero(usageMetadata?.candidatesTokenCount) > 0 &&
    parts.some((part) => readObject(readObject(part)?.functionCall)?.name);
}

/** Members of a part that is text or thinking, or only a signature. */
const TEXT_MEMBERS = ["text", "thought", "thoughtSignature", "partMetadata"];

/** Whether a part has other content, such as an image. */
function isProviderPart(part: WirePart): boolean {
  if (part.text) return false;
  return Object.entries(part).some(([name, value]) => value && !TEXT_MEMBERS.includes(name));
}

/** Whether a part has text or other content, rather than only a signature. */
function hasContent(part: WirePart): boolean {
  return Boolean(part.text) || isProviderPart(part);
}

/** Converts the counts: Google includes cached tokens in the prompt and excludes thoughts from the output. */
function toUsage(counts: WireUsage): Usage {
  const prompt = countOrZero(counts.promptTokenCount);
  const cacheRead = countOrZero(counts.cachedContentTokenCount);
  const reasoning = countOrZero(counts.thoughtsTokenCount);
  const input = Math.max(0, prompt - cacheRead) + countOrZero(counts.toolUsePromptTokenCount);
  const output = countOrZero(counts.candidatesTokenCount) + reasoning;
  const audioCacheRead = Math.min(countAudio(counts.cacheTokensDetails), cacheRead);
  const audioInput = Math.min(countAudio(counts.promptTokensDetails) - audioCacheRead, input);
  const extra = {
    ...(counts.thoughtsTokenCount !== undefined && { reasoning }),
    ...(audioInput > 0 && { audioInput }),
    ...(audioCacheRead > 0 && { audioCacheRead }),
  };
  return {
    input,
    output,
    cacheRead,
    cacheWrite: 0,
    total: countOrZero(counts.totalTokenCount) || input + cacheRead + output,
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

function countAudio(details: readonly WireModalityCount[] | null | undefined): number {
  const audio = objectsOrEmpty(details).filter(({ modality }) => modality === "AUDIO");
  return audio.reduce((sum, { tokenCount }) => sum + countOrZero(tokenCount), 0);
}
