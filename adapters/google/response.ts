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
import { countOf, textOf } from "../kit/stream/wire_values.ts";
import { GoogleCalls } from "./calls.ts";
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
const FILTERS = [
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
const SLIPS = [
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
];
/** Reasons to stop that mean that there is no whole reply. */
const FAILURES = ["OTHER", "IMAGE_OTHER", "NO_IMAGE", "MISSING_THOUGHT_SIGNATURE"];

/** Reads the events of one stream. */
export class GoogleReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #origin: ErrorOrigin;
  readonly #calls: GoogleCalls;
  #counts: WireUsage | null = null;
  #finishReason = "";
  #finishMessage = "";
  #textSignature: string | undefined;

  /** Makes a reader that writes with `writer`. */
  constructor(writer: BlockWriter, { origin, toolName }: GoogleReplyOptions) {
    this.#writer = writer;
    this.#origin = origin;
    this.#calls = new GoogleCalls(writer, toolName);
  }

  /** Tokens so far. */
  get usage(): Usage | undefined {
    return this.#counts === null ? undefined : usageOf(this.#counts);
  }

  /** Reads one event. */
  read(json: string): void {
    const chunk: WireChunk = JSON.parse(json);
    if (chunk.usageMetadata) this.#counts = { ...this.#counts, ...chunk.usageMetadata };
    if (chunk.error) throw classifyStreamError(chunk, this.#origin);
    const blocked = textOf(chunk.promptFeedback?.blockReason);
    if (blocked !== "") throw this.#blocked(blocked, chunk);
    const candidate = firstCandidate(chunk);
    if (!candidate) return;
    for (const part of candidate.content?.parts ?? []) this.#append(part);
    this.#finishReason = textOf(candidate.finishReason) || this.#finishReason;
    this.#finishMessage = textOf(candidate.finishMessage) || this.#finishMessage;
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
      this.#think(textOf(part.text), textOf(part.thoughtSignature));
    } else if (part.text === undefined && isItem(part)) {
      this.#endText();
      this.#writer.extension(GOOGLE_PART, part);
    } else {
      this.#writer.text(textOf(part.text));
      this.#textSignature = textOf(part.thoughtSignature) || this.#textSignature;
    }
  }

  #think(text: string, signature: string): void {
    this.#writer.thinking(text);
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
    const error = this.#errorOf(reason);
    const usage = usageOf(this.#counts ?? {});
    if (error) return this.#writer.fail(error, usage);
    if (!isCut && reason !== "STOP" && reason !== "FUNCTION_CALL") {
      this.#writer.warning("unknown_stop_reason", `Unknown stop reason: ${reason}`);
    }
    const ended = this.#calls.any ? "tool_use" : "stop";
    this.#writer.finish({ stopReason: isCut ? "length" : ended, usage });
  }

  #errorOf(reason: string): AgentError | undefined {
    const { provider } = this.#origin;
    const why = this.#finishMessage === "" ? reason : `${reason}, ${this.#finishMessage}`;
    if (FILTERS.includes(reason)) {
      return new ContentFilteredError(`${provider} filtered the reply: ${why}`, { provider });
    }
    const retryable = SLIPS.includes(reason);
    if (!retryable && !FAILURES.includes(reason)) return undefined;
    return new StreamError(`${provider} broke off the reply: ${why}`, { provider, retryable });
  }

  #blocked(reason: string, { promptFeedback }: WireChunk): AgentError {
    const { provider } = this.#origin;
    const words = textOf(promptFeedback?.blockReasonMessage);
    const message = `${provider} blocked the prompt: ${reason}${words && `, ${words}`}`;
    return new ContentFilteredError(message, { provider });
  }
}

/** A part of Google's own; a signature may also come alone. */
function isItem({ thoughtSignature: _signature, ...others }: WirePart): boolean {
  return Object.keys(others).length > 0;
}

/** A request for several replies (`candidateCount`, through `extra`) gets the first one. */
function firstCandidate({ candidates }: WireChunk): WireCandidate | undefined {
  const candidate = candidates?.[0];
  return candidate?.index ? candidates?.find(({ index = 0 }) => index === 0) : candidate;
}

/** Gemini's prompt tokens have cached ones in them, and its output has thoughts beside it; ours is the other way round. */
function usageOf(counts: WireUsage): Usage {
  const prompt = countOf(counts.promptTokenCount);
  const cacheRead = countOf(counts.cachedContentTokenCount);
  const reasoning = countOf(counts.thoughtsTokenCount);
  const input = Math.max(0, prompt - cacheRead) + countOf(counts.toolUsePromptTokenCount);
  const output = countOf(counts.candidatesTokenCount) + reasoning;
  return {
    input,
    output,
    cacheRead,
    cacheWrite: 0,
    total: countOf(counts.totalTokenCount) || input + cacheRead + output,
    ...(counts.thoughtsTokenCount !== undefined && { extra: { reasoning } }),
  };
}
