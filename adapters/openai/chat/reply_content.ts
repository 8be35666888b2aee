/**
 * Content of a reply of the chat completions API.
 *
 * @module
 */

import { isJsonObject } from "../../../src/core/json/json.ts";
import type { Citation } from "../../../src/core/messages/content.ts";
import type { BlockWriter } from "../../../src/core/streams/block_writer.ts";
import type { ProviderCall } from "../../kit/provider.ts";
import type { UnknownParts } from "../../kit/stream/unknown_parts.ts";
import { readList, readObject, readText, textOrEmpty } from "../../kit/stream/wire_values.ts";
import { toCitations } from "../server/citations.ts";
import { ReasoningDetails } from "./reasoning_details.ts";
import { getContinuedText, RepeatedStart } from "./repeated_start.ts";
import { ChatCallAssembler } from "./tool_calls.ts";
import {
  REASONING_CONTENT,
  REASONING_DETAILS,
  type WireContentPart,
  type WireDelta,
  type WireToolCall,
} from "./wire.ts";

/** Members of a delta with media, which requests for them return. */
const MEDIA_MEMBERS = ["audio", "images"] as const;

/** Options for `new ReplyContent()`. */
export interface ReplyContentOptions {
  /** Reports parts that cannot be read. */
  readonly unknown: UnknownParts;
  /** Whether the server sends the text again that the request gave as the start of the reply. */
  readonly repeatsStart: boolean;
}

/** Writes the content of one reply, delta by delta. */
export class ReplyContent {
  readonly #writer: BlockWriter;
  readonly #unknown: UnknownParts;
  readonly #start: RepeatedStart;
  readonly #calls: ChatCallAssembler;
  readonly #details = new ReasoningDetails();
  #citations: Citation[] = [];
  #refusal = "";
  #hasOpenReasoning = false;

  /** Creates the content of the reply to a call. */
  constructor(call: ProviderCall, { unknown, repeatsStart }: ReplyContentOptions) {
    const { messages } = call.request.context;
    this.#writer = call.writer;
    this.#unknown = unknown;
    this.#start = new RepeatedStart(repeatsStart ? getContinuedText(messages) : "");
    this.#calls = new ChatCallAssembler(call);
  }

  /** Whether the reply has a call of a tool. */
  get hasCalls(): boolean {
    return this.#calls.hasCalls;
  }

  /** Whether nothing has been appended. */
  get isEmpty(): boolean {
    return !this.#writer.hasContent && !this.hasCalls;
  }

  /** The refusal of the model; usually empty. */
  get refusal(): string {
    return this.#refusal;
  }

  /** Appends a delta; `source` is the JSON text of its chunk. */
  append(delta: WireDelta, source: string): void {
    const { content, refusal, annotations } = delta;
    const calls = toCalls(delta);
    this.#appendThinking(delta);
    if (content) this.#appendContent(content);
    this.#refusal += readText(refusal);
    if (annotations) this.#addCitations(annotations);
    for (const name of MEDIA_MEMBERS) if (delta[name]) this.#unknown.report("content", name);
    if (calls.length === 0) return;
    this.#endThinking();
    this.appendCalls(calls, source);
  }

  /** Appends text. */
  appendText(text: string): void {
    this.#endThinking();
    this.#writer.writeText(this.#start.take(text));
  }

  /** Appends pieces of calls. */
  appendCalls(pieces: readonly WireToolCall[], source?: string): void {
    this.#calls.append(pieces, source);
  }

  /** Replaces the citations, which some servers send as a list of all of them. */
  setCitations(sources: unknown): void {
    this.#citations = toCitations(sources);
  }

  /** Ends the text and the calls, except a truncated one. */
  end({ isTruncated }: { readonly isTruncated: boolean }): void {
    this.#endThinking();
    this.#writer.writeText(this.#start.end());
    const citations = this.#citations;
    if (citations.length > 0) this.#writer.closeText({ citations });
    this.#calls.end({ wasTruncated: isTruncated });
    const details = this.#details.getReplayDetails();
    if (details.length > 0) this.#writer.writeExtension(REASONING_DETAILS, details);
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

  #endThinking(): void {
    if (!this.#hasOpenReasoning) return;
    this.#hasOpenReasoning = false;
    this.#writer.closeTextOrThinking({ signature: REASONING_CONTENT });
  }

  #appendContent(content: string | readonly WireContentPart[]): void {
    if (typeof content === "string") return this.appendText(content);
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

  #addCitations(annotations: unknown): void {
    for (const citation of toCitations(annotations)) this.#citations.push(citation);
  }
}

/** Whether a delta has text or calls. */
export function isContent(delta: WireDelta): boolean {
  return Boolean(delta.content) || toCalls(delta).length > 0;
}

/** Returns the pieces of calls. Some versions of TGI send one without a list, and old servers have one call only. */
function toCalls(
  { tool_calls: calls, function_call: onlyCall }: WireDelta,
): readonly WireToolCall[] {
  const pieces: unknown = calls;
  if (isJsonObject(pieces) && isJsonObject(pieces["function"])) return [pieces];
  return readList(calls ?? (onlyCall ? [{ index: 0, function: onlyCall }] : []));
}

/** Whether a part refers to a source of the text before it. */
function isCitation({ type }: WireContentPart): boolean {
  return type === "reference" || type === "tool_reference";
}
