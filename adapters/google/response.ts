/**
 * Gemini's stream becomes a reply.
 *
 * @module
 */

import type { BlockWriter } from "../../src/core/block_writer.ts";
import { type AgentError, ContentFilteredError, StreamError } from "../../src/core/errors.ts";
import type { Usage } from "../../src/core/usage.ts";
import { classifyStreamError, type ErrorOrigin } from "../kit/errors/classify.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import { countOrZero, textOrEmpty } from "../kit/stream/wire_values.ts";
import { GoogleCallAssembler } from "./calls.ts";
import type { WireCandidate, WireChunk, WirePart, WireUsage } from "./wire.ts";

/** Kind of the extension blocks in which parts of Google's own are kept: code it ran, searches, images it drew. */
export const GOOGLE_PART = "google.part";

/** Options of {@linkcode GoogleReply}. */
export interface GoogleReplyOptions {
  /** The tool's own name, for one on the wire. */
  readonly toolName: (wireName: string) => string;
  /** Whose errors these are. */
  readonly origin: ErrorOrigin;
}

/** Reasons to stop that mean that the content was refused. */
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
/** Reasons to stop that mean that the model lost its way; another try may find it. */
const MALFORMED_REASONS = [
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
];
/** Reasons to stop that mean that there is no whole reply. */
const FAILURE_REASONS = ["OTHER", "IMAGE_OTHER", "NO_IMAGE", "MISSING_THOUGHT_SIGNATURE"];

/** Reads the events of one stream. */
export class GoogleReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #origin: ErrorOrigin;
  readonly #calls: GoogleCallAssembler;
  #wireUsage: WireUsage | null = null;
  #finishReason = "";
  #finishMessage = "";
  #textSignature: string | undefined;

  /** Makes a reader that writes with `writer`. */
  constructor(writer: BlockWriter, { origin, toolName }: GoogleReplyOptions) {
    this.#writer = writer;
    this.#origin = origin;
    this.#calls = new GoogleCallAssembler(writer, toolName);
  }

  /** Tokens so far. */
  get usage(): Usage | undefined {
    return this.#wireUsage === null ? undefined : toUsage(this.#wireUsage);
  }

  /** Reads one event. */
  read(json: string): void {
    const chunk: WireChunk = JSON.parse(json);
    if (chunk.usageMetadata) this.#wireUsage = { ...this.#wireUsage, ...chunk.usageMetadata };
    if (chunk.error) throw classifyStreamError(chunk, this.#origin);
    const blocked = textOrEmpty(chunk.promptFeedback?.blockReason);
    if (blocked !== "") throw this.#toBlockedError(blocked, chunk);
    const candidate = findFirstCandidate(chunk);
    if (!candidate) return;
    for (const part of candidate.content?.parts ?? []) this.#append(part);
    this.#finishReason = textOrEmpty(candidate.finishReason) || this.#finishReason;
    this.#finishMessage = textOrEmpty(candidate.finishMessage) || this.#finishMessage;
  }

  /** There is no last event: a reply that gave its reason to stop is complete when the body is. */
  end(): void {
    if (this.#finishReason !== "") this.#finish();
  }

  #append(part: WirePart): void {
    if (part.functionCall) {
      this.#endText();
      this.#calls.append(part.functionCall, part);
    } else if (part.thought) {
      this.#endText();
      this.#appendThinking(textOrEmpty(part.text), textOrEmpty(part.thoughtSignature));
    } else if (part.text === undefined && isProviderPart(part)) {
      this.#endText();
      this.#writer.writeExtension(GOOGLE_PART, part);
    } else {
      this.#writer.writeText(textOrEmpty(part.text));
      this.#textSignature = textOrEmpty(part.thoughtSignature) || this.#textSignature;
    }
  }

  #appendThinking(text: string, signature: string): void {
    this.#writer.writeThinking(text);
    if (signature !== "") this.#writer.closeThinking({ signature });
  }

  /** The signature may come with any piece of a text, or after it; the text goes on until something else comes. */
  #endText(): void {
    if (this.#textSignature === undefined) return;
    this.#writer.closeText({ signature: this.#textSignature });
    this.#textSignature = undefined;
  }

  #finish(): void {
    this.#endText();
    const reason = this.#finishReason;
    const isCut = reason === "MAX_TOKENS";
    this.#calls.end({ wasCut: isCut });
    const error = this.#toError(reason);
    const usage = toUsage(this.#wireUsage ?? {});
    if (error) return this.#writer.fail(error, usage);
    if (!isCut && reason !== "STOP" && reason !== "FUNCTION_CALL") {
      this.#writer.warning("unknown_stop_reason", `Unknown stop reason: ${reason}`);
    }
    const ended = this.#calls.hasCalls ? "tool_use" : "stop";
    this.#writer.finish({ stopReason: isCut ? "length" : ended, usage });
  }

  #toError(reason: string): AgentError | undefined {
    const { provider } = this.#origin;
    const why = this.#finishMessage === "" ? reason : `${reason}, ${this.#finishMessage}`;
    if (FILTER_REASONS.includes(reason)) {
      return new ContentFilteredError(`${provider} filtered the reply: ${why}`, { provider });
    }
    const retryable = MALFORMED_REASONS.includes(reason);
    if (!retryable && !FAILURE_REASONS.includes(reason)) return undefined;
    return new StreamError(`${provider} broke off the reply: ${why}`, { provider, retryable });
  }

  #toBlockedError(reason: string, { promptFeedback }: WireChunk): AgentError {
    const { provider } = this.#origin;
    const words = textOrEmpty(promptFeedback?.blockReasonMessage);
    const message = `${provider} blocked the prompt: ${reason}${words && `, ${words}`}`;
    return new ContentFilteredError(message, { provider });
  }
}

/** A part of Google's own; a signature may also come alone. */
function isProviderPart({ thoughtSignature: _signature, ...others }: WirePart): boolean {
  return Object.keys(others).length > 0;
}

/** A request for several replies (`candidateCount`, through `extra`) gets the first one. */
function findFirstCandidate({ candidates }: WireChunk): WireCandidate | undefined {
  const candidate = candidates?.[0];
  return candidate?.index ? candidates?.find(({ index = 0 }) => index === 0) : candidate;
}

/** Gemini's prompt tokens have cached ones in them, and its output has thoughts beside it; ours is the other way round. */
function toUsage(counts: WireUsage): Usage {
  const prompt = countOrZero(counts.promptTokenCount);
  const cacheRead = countOrZero(counts.cachedContentTokenCount);
  const reasoning = countOrZero(counts.thoughtsTokenCount);
  const input = Math.max(0, prompt - cacheRead) + countOrZero(counts.toolUsePromptTokenCount);
  const output = countOrZero(counts.candidatesTokenCount) + reasoning;
  return {
    input,
    output,
    cacheRead,
    cacheWrite: 0,
    total: countOrZero(counts.totalTokenCount) || input + cacheRead + output,
    ...(counts.thoughtsTokenCount !== undefined && { extra: { reasoning } }),
  };
}
