/**
 * Converts Google's event stream to a reply.
 *
 * @module
 */

import type { AgentError } from "../../src/core/errors/errors.ts";
import type { Usage } from "../../src/core/models/usage.ts";
import type { BlockWriter } from "../../src/core/streams/block_writer.ts";
import { classifyStreamError, type ErrorOrigin } from "../kit/errors/classify.ts";
import type { ProviderCall } from "../kit/provider.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import {
  createSecondReplyError,
  ResponseId,
  selectFirstReply,
} from "../kit/stream/single_reply.ts";
import { findEnding, type StopReasons, warnUnknownStopReason } from "../kit/stream/stop_reasons.ts";
import { UnknownParts } from "../kit/stream/unknown_parts.ts";
import { countOrZero, readList, readObject, textOrEmpty } from "../kit/stream/wire_values.ts";
import { isContent, ReplyContent } from "./reply_content.ts";
import {
  createEmptyReplyError,
  createFilterError,
  createOutputError,
  findBlockedError,
} from "./reply_errors.ts";
import { ReplySources } from "./reply_sources.ts";
import { ReplyUsage } from "./usage.ts";
import type { WireCandidate, WireChunk, WirePart } from "./wire.ts";

/** How a reply ends; `malformed` output may succeed when it is requested again, an `incomplete` reply not. */
type Ending = "complete" | "called" | "truncated" | "filtered" | "malformed" | "incomplete";

const STOP_REASONS: StopReasons<Ending> = {
  complete: ["STOP"],
  called: ["FUNCTION_CALL"],
  truncated: ["MAX_TOKENS", "CONTINUATION"],
  filtered: [
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
  ],
  malformed: [
    "MALFORMED_FUNCTION_CALL",
    "MALFORMED_RESPONSE",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
  ],
  incomplete: ["OTHER", "IMAGE_OTHER", "NO_IMAGE", "MISSING_THOUGHT_SIGNATURE"],
};

/** Reads the events of one stream and writes the reply. */
export class GoogleReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #origin: ErrorOrigin;
  readonly #unknown: UnknownParts;
  readonly #content: ReplyContent;
  readonly #sources: ReplySources;
  readonly #usage: ReplyUsage;
  readonly #responseId = new ResponseId();
  #finishReason = "";
  #finishMessage = "";
  /** The last chunk, if it has the start of a call and the number of output tokens so far. */
  #countedCalls: string | undefined;

  /** Creates a reader for the reply of a call. */
  constructor(call: ProviderCall, api: { readonly isVertex: boolean }) {
    this.#writer = call.writer;
    this.#origin = call.origin;
    this.#unknown = new UnknownParts(call.writer);
    this.#content = new ReplyContent(call, this.#unknown);
    this.#sources = new ReplySources(call.origin.provider, call.writer);
    this.#usage = new ReplyUsage(call.request, api);
  }

  /** Tokens counted so far. */
  get usage(): Usage | undefined {
    return this.#usage.isKnown ? this.#usage.get() : undefined;
  }

  /** Reads one event. */
  read(json: string): void {
    // Another call would add to the output tokens, so that an equal chunk is one that was sent twice.
    if (json === this.#countedCalls) return;
    const chunk: WireChunk = JSON.parse(json);
    this.#countedCalls = hasCountedCalls(chunk) ? json : undefined;
    this.#writer.setResponseId(chunk.responseId);
    if (chunk.usageMetadata) this.#usage.update(chunk.usageMetadata);
    if (chunk.error) throw classifyStreamError(chunk, this.#origin);
    const blocked = findBlockedError(this.#origin.provider, chunk);
    if (blocked) throw blocked;
    const candidate = selectFirstReply(readList(chunk.candidates), this.#unknown);
    if (candidate) this.#readCandidate(candidate, { id: chunk.responseId, json });
  }

  /** Finishes the reply at the end of the body if a finish reason was received; Google sends no final event. */
  end(): void {
    if (this.#finishReason !== "") this.#finish(this.#finishReason);
  }

  #readCandidate(candidate: WireCandidate, { id, json }: { id: unknown; json: string }): void {
    const parts = readList(candidate.content?.parts);
    this.#checkResponse(id, parts);
    for (const part of parts) this.#content.append(part, json);
    this.#usage.countSearches(candidate.groundingMetadata);
    this.#sources.add(candidate);
    this.#finishReason = textOrEmpty(candidate.finishReason) || this.#finishReason;
    this.#finishMessage = textOrEmpty(candidate.finishMessage) || this.#finishMessage;
  }

  /**
   * Refuses a second response after the end of the first, such as a gateway sends when it repeats a failed request within
   * one stream. Older models send a finish reason with every chunk, all with the same id, and gateways another id with a
   * chunk of counts after the end.
   */
  #checkResponse(id: unknown, parts: readonly WirePart[]): void {
    const isOther = this.#responseId.isOther(id, { hasEnded: this.#finishReason !== "" });
    if (isOther && parts.some(isContent)) throw createSecondReplyError(this.#origin, "response");
  }

  #finish(reason: string): void {
    const ending = findEnding(STOP_REASONS, reason);
    const isTruncated = ending === "truncated";
    this.#content.end({ isTruncated, citations: this.#sources.citations });
    const error = this.#findError(ending, reason);
    const usage = this.#usage.get();
    if (error) return this.#writer.fail(error, usage);
    if (ending === undefined) warnUnknownStopReason(reason, this.#writer);
    const stopReason = this.#content.hasCalls ? "tool_use" : "stop";
    this.#writer.finish({ stopReason: isTruncated ? "length" : stopReason, usage });
  }

  #findError(ending: Ending | undefined, reason: string): AgentError | undefined {
    const { provider } = this.#origin;
    const details = { reason, message: this.#finishMessage };
    switch (ending) {
      case "filtered":
        return createFilterError(provider, details);
      case "malformed":
        return createOutputError(provider, details, { retryable: true });
      case "incomplete":
        return createOutputError(provider, details, { retryable: false });
      case "complete":
        return this.#content.isEmpty ? createEmptyReplyError(provider) : undefined;
      default:
        return undefined;
    }
  }
}

/** Whether a chunk has the start of a call and the number of output tokens so far. */
function hasCountedCalls({ candidates, usageMetadata }: WireChunk): boolean {
  const parts = readList(candidates).flatMap((each) => readList(each?.content?.parts));
  return countOrZero(usageMetadata?.candidatesTokenCount) > 0 &&
    parts.some((part) => readObject(readObject(part)?.functionCall)?.name);
}
