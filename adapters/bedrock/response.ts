/**
 * Converts Bedrock's event stream to a reply.
 *
 * @module
 */

import type { BlockWriter } from "../../src/core/block_writer.ts";
import type { Citation } from "../../src/core/content.ts";
import { ContentFilteredError, StreamError } from "../../src/core/errors.ts";
import { isJsonObject } from "../../src/core/json.ts";
import type { Usage } from "../../src/core/usage.ts";
import { ClaudeInputWriter } from "../kit/stream/claude_input_writer.ts";
import { classifyStreamError } from "../kit/errors/classify.ts";
import type { ProviderCall } from "../kit/provider.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import { ServerRequests } from "../kit/stream/server_requests.ts";
import { countTierRequest } from "../kit/stream/service_tier.ts";
import { createSecondReplyError } from "../kit/stream/single_reply.ts";
import { UnknownParts } from "../kit/stream/unknown_parts.ts";
import {
  countOrZero,
  objectsOrEmpty,
  parseJsonOrUndefined,
  readObject,
  readText,
  textOrEmpty,
  toArgumentsText,
} from "../kit/stream/wire_values.ts";
import { toCitation } from "./citations.ts";
import { toErrorBody } from "./errors.ts";
import type { BedrockFrame } from "./event_codec.ts";
import { getModelFamily } from "./families.ts";
import type {
  WireBlockDelta,
  WireBlockStart,
  WireBlockStop,
  WireDelta,
  WireMessageStop,
  WireMetadata,
  WireUsage,
} from "./wire.ts";

/** Type prefix of the extension blocks that store Bedrock's own items. */
export const EXTENSION_PREFIX = "bedrock.";

type OpenBlock =
  | { readonly type: "thinking"; signature: string; redacted: string }
  | {
    readonly type: "tool_use";
    readonly contentIndex: number;
    hasInput: boolean;
    hasEnded: boolean;
  }
  | { readonly type: "server_tool_use"; readonly toolUse: object; json: string }
  | { readonly type: "server_tool_result"; readonly toolResult: object; content: unknown[] }
  | { readonly type: "image"; readonly format: unknown; bytes: string };

/** Reads the messages of one stream and writes the reply. */
export class BedrockReply implements ReplyReader<BedrockFrame> {
  readonly #writer: BlockWriter;
  readonly #call: ProviderCall;
  readonly #blocks = new Map<number, OpenBlock>();
  readonly #inputs: ClaudeInputWriter;
  readonly #unknown: UnknownParts;
  readonly #requests = new ServerRequests();
  #wireUsage: WireUsage | undefined;
  #stopReason: string | undefined;
  #hasToolCall = false;
  /** Index of the last block. */
  #lastIndex = -1;
  /** Citations of the open text. */
  #citations: Citation[] = [];

  constructor(call: ProviderCall) {
    const { model, context } = call.request;
    const isClaude = getModelFamily(model.modelId).thinking === "claude";
    this.#writer = call.writer;
    this.#inputs = new ClaudeInputWriter(call.writer, isClaude ? context.tools : []);
    this.#unknown = new UnknownParts(call.writer);
    this.#call = call;
  }

  /** Tokens counted so far; `undefined` before the provider reports them. */
  get usage(): Usage | undefined {
    return this.#wireUsage && this.#requests.addTo(toUsage(this.#wireUsage));
  }

  /** Reads one message. */
  read({ type, name, body }: BedrockFrame): void {
    switch (type) {
      case "event":
        return this.#readEvent(name, body);
      case "exception":
        throw this.#toError(name, parseExceptionMessage(body));
      case "error":
        throw this.#toError(name, body);
    }
  }

  /** Finishes a reply whose token counts, usually the last message, were not sent. */
  end(): void {
    if (this.#stopReason !== undefined) this.#finish(this.#stopReason);
  }

  #readEvent(name: string, body: string): void {
    switch (name) {
      case "contentBlockDelta": {
        const { contentBlockIndex, delta }: WireBlockDelta = JSON.parse(body);
        if (this.#stopReason !== undefined) this.#startMessage();
        this.#closeUnended(contentBlockIndex);
        return this.#append(contentBlockIndex, readObject(delta) ?? {}, body);
      }
      case "contentBlockStart": {
        const { contentBlockIndex, start }: WireBlockStart = JSON.parse(body);
        if (this.#stopReason !== undefined) this.#startMessage();
        this.#closeUnended(contentBlockIndex);
        const block = this.#startBlock(readObject(start) ?? {});
        if (block) this.#blocks.set(contentBlockIndex, block);
        return;
      }
      case "contentBlockStop": {
        const { contentBlockIndex }: WireBlockStop = JSON.parse(body);
        return this.#endBlock(contentBlockIndex);
      }
      case "messageStop": {
        const { stopReason }: WireMessageStop = JSON.parse(body);
        this.#stopReason = textOrEmpty(stopReason) || "end_turn";
        break;
      }
      case "metadata": {
        const { usage = {}, trace, serviceTier }: WireMetadata = JSON.parse(body);
        this.#wireUsage = usage;
        const requested = this.#call.request.options.serviceTier;
        countTierRequest(this.#requests, { reported: serviceTier?.type, requested });
        if (isJsonObject(trace)) {
          const message = "The data of this warning is the assessment of the guardrail";
          this.#writer.warning("guardrail_trace", message, trace);
        }
        break;
      }
      case "messageStart":
        return this.#startMessage();
      default:
        return this.#unknown.report("an event", name);
    }
    // messageStop and metadata come in either order.
    if (this.#wireUsage && this.#stopReason !== undefined) this.#finish(this.#stopReason);
  }

  /** Refuses a second message, such as a gateway sends when it repeats a failed request within one stream. */
  #startMessage(): void {
    if (this.#writer.hasContent) throw createSecondReplyError(this.#call.origin, "message");
  }

  #startBlock(start: NonNullable<WireBlockStart["start"]>): OpenBlock | undefined {
    const toolUse = readObject(start.toolUse);
    const toolResult = readObject(start.toolResult);
    if (toolResult) return { type: "server_tool_result", toolResult, content: [] };
    if (start.image) return { type: "image", format: start.image.format, bytes: "" };
    if (!toolUse) {
      const [name] = Object.keys(start);
      if (name !== undefined) this.#unknown.report("a block", name);
      return undefined;
    }
    if (toolUse.type === "server_tool_use") {
      const isSearch = /grounding|search/.test(textOrEmpty(toolUse.name));
      this.#requests.add(isSearch ? "webSearchRequests" : "codeExecutionRequests");
      return { type: "server_tool_use", toolUse, json: "" };
    }
    const name = this.#call.decodeToolName(readText(toolUse.name));
    this.#hasToolCall = true;
    const contentIndex = this.#writer.openToolCall(textOrEmpty(toolUse.toolUseId), name);
    this.#inputs.start(contentIndex, name);
    return { type: "tool_use", contentIndex, hasInput: false, hasEnded: false };
  }

  #append(index: number, delta: WireDelta, body: string): void {
    const { text, toolUse, toolResult, reasoningContent, citation, image } = delta;
    if (isJsonObject(citation)) {
      this.#citations.push(toCitation(citation));
    } else if (text !== undefined) {
      this.#writer.writeText(readText(text));
    } else if (reasoningContent !== undefined) {
      this.#appendThinking(index, readObject(reasoningContent) ?? {});
    } else if (toolUse !== undefined) {
      this.#appendInput(index, toArgumentsText(readObject(toolUse)?.input, body));
    } else if (toolResult) {
      const block = this.#blocks.get(index);
      if (block?.type === "server_tool_result") block.content.push(...[toolResult].flat());
      else this.#unknown.reportOrphanDelta("toolResult");
    } else if (image) {
      this.#appendImage(index, image);
    } else {
      const [name] = Object.keys(delta);
      if (name !== undefined) this.#unknown.report("a delta", name);
    }
  }

  #appendInput(index: number, json: string): void {
    // Input of an unknown block is that of the open call, which must not run without it.
    const block = this.#blocks.get(index) ?? this.#findOpenCall();
    if (block?.type === "tool_use") {
      block.hasInput ||= json !== "";
      this.#inputs.append(block.contentIndex, json);
    } else if (block?.type === "server_tool_use") block.json += json;
    else if (json !== "") this.#unknown.reportOrphanDelta("toolUse");
  }

  #findOpenCall(): OpenBlock | undefined {
    return [...this.#blocks.values()].findLast((block) =>
      block.type === "tool_use" && !block.hasEnded
    );
  }

  #appendImage(index: number, { source, error }: NonNullable<WireDelta["image"]>): void {
    const block = this.#blocks.get(index);
    const bytes = readText(source?.bytes);
    if (block?.type === "image") block.bytes = joinBase64(block.bytes, bytes);
    else if (bytes !== "") this.#unknown.reportOrphanDelta("image");
    if (!error) return;
    const message = `The image is incomplete: ${textOrEmpty(error.message)}`;
    this.#writer.warning("image_incomplete", message);
  }

  #appendThinking(index: number, reasoning: NonNullable<WireDelta["reasoningContent"]>): void {
    const current = this.#blocks.get(index);
    const block = current?.type === "thinking"
      ? current
      : { type: "thinking" as const, signature: "", redacted: "" };
    this.#blocks.set(index, block);
    block.signature += textOrEmpty(reasoning.signature);
    block.redacted += textOrEmpty(reasoning.redactedContent);
    this.#writer.writeThinking(readText(reasoning.text));
  }

  /**
   * Handles the end of a block. The token limit may have cut off a call before its input, so that one without any stays
   * open until the next block or the stop reason shows that it is complete.
   */
  #endBlock(index: number): void {
    const block = this.#blocks.get(index);
    if (block?.type === "tool_use" && !block.hasInput) block.hasEnded = true;
    else this.#close(index);
  }

  /** Closes a block; text has no start event, so an unknown block is text. */
  #close(index: number): void {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    switch (block?.type) {
      case undefined:
        return this.#closeText();
      case "thinking":
        return this.#closeThinking(block.signature, block.redacted);
      case "tool_use":
        this.#inputs.end(block.contentIndex);
        return this.#writer.closeToolCall(block.contentIndex);
      case "server_tool_use": {
        const input = parseJsonOrUndefined(block.json || "{}");
        if (input === undefined) return this.#unknown.reportCutItem("server_tool_use");
        return this.#writeExtension("tool_use", { toolUse: { ...block.toolUse, input } });
      }
      case "image": {
        const { format, bytes } = block;
        return this.#writeExtension("image", { image: { format, source: { bytes } } });
      }
      case "server_tool_result": {
        const { toolResult, content } = block;
        return this.#writeExtension("tool_result", { toolResult: { ...toolResult, content } });
      }
    }
  }

  /** Closes the last block when another one follows: a call that has ended, and text and thinking whose end was not sent. */
  #closeUnended(nextIndex: number): void {
    const lastIndex = this.#lastIndex;
    this.#lastIndex = nextIndex;
    const block = this.#blocks.get(lastIndex);
    const isProse = block === undefined || block.type === "thinking";
    const hasEnded = block?.type === "tool_use" && block.hasEnded;
    if (lastIndex !== nextIndex && (isProse || hasEnded)) this.#close(lastIndex);
  }

  #closeText(): void {
    const citations = this.#citations;
    this.#citations = [];
    if (citations.length > 0) this.#writer.closeText({ citations });
    else this.#writer.closeTextOrThinking();
  }

  #closeThinking(signature: string, redacted: string): void {
    if (redacted !== "") this.#writer.closeThinking({ signature: redacted, redacted: true });
    else if (signature !== "") this.#writer.closeThinking({ signature });
    else this.#writer.closeTextOrThinking();
  }

  /** Stores a server-side item, which has to be sent back unchanged. */
  #writeExtension(kind: string, item: object): void {
    this.#writer.writeExtension(EXTENSION_PREFIX + kind, item);
  }

  #finish(wireReason: string): void {
    if (this.#citations.length > 0) this.#closeText();
    const stopReason = wireReason.toLowerCase();
    const usage = this.#requests.addTo(toUsage(this.#wireUsage ?? {}));
    const { provider } = this.#call.origin;
    switch (stopReason) {
      case "max_tokens":
      case "model_context_window_exceeded":
        this.#inputs.endAll();
        return this.#writer.finish({ stopReason: "length", usage });
      case "content_filtered":
      case "content_filter":
      case "guardrail_intervened": {
        const filter = stopReason === "guardrail_intervened" ? "a guardrail" : "the content filter";
        const message = `${provider} filtered the reply: stopped by ${filter}`;
        return this.#writer.fail(new ContentFilteredError(message, { provider }), usage);
      }
      case "malformed_model_output":
      case "malformed_tool_use": {
        const message = `${provider} ended the reply early: malformed output (${stopReason})`;
        return this.#writer.fail(new StreamError(message, { provider, retryable: true }), usage);
      }
      case "end_turn":
      case "stop_sequence":
      case "tool_use":
        break;
      default:
        this.#writer.warning("unknown_stop_reason", `Unknown stop reason: ${wireReason}`);
    }
    // A call that the token limit cut off stays open.
    for (const index of this.#blocks.keys()) this.#close(index);
    this.#writer.finish({ stopReason: this.#hasToolCall ? "tool_use" : "stop", usage });
  }

  #toError(name: string, message: string): Error {
    return classifyStreamError(toErrorBody(name, message), this.#call.origin);
  }
}

/** Joins two texts in base64, each of which may have padding. */
function joinBase64(start: string, end: string): string {
  return start.endsWith("=") ? btoa(atob(start) + atob(end)) : start + end;
}

function parseExceptionMessage(body: string): string {
  const value: unknown = JSON.parse(body);
  const message = isJsonObject(value) ? value["message"] ?? value["Message"] : undefined;
  return typeof message === "string" ? message : body;
}

/** Converts the counts; Bedrock's `inputTokens` excludes cache reads and cache writes, its total includes them. */
function toUsage(counts: WireUsage): Usage {
  const input = countOrZero(counts.inputTokens);
  const output = countOrZero(counts.outputTokens);
  const cacheRead = countOrZero(counts.cacheReadInputTokens);
  const cacheWrite = countOrZero(counts.cacheWriteInputTokens);
  const total = countOrZero(counts.totalTokens) || input + output + cacheRead + cacheWrite;
  const usage = { input, output, cacheRead, cacheWrite, total };
  const countWrites = (isCounted: (ttl: unknown) => boolean) =>
    objectsOrEmpty(counts.cacheDetails).filter(({ ttl }) => isCounted(ttl))
      .reduce((sum, { inputTokens }) => sum + countOrZero(inputTokens), 0);
  const cacheWriteLong = countWrites((ttl) => ttl === "1h");
  // 5 minutes are the default.
  const cacheWriteOther = countWrites((ttl) => ttl !== "5m" && ttl !== "1h");
  const extra = {
    ...(cacheWriteLong > 0 && { cacheWriteLong }),
    ...(cacheWriteOther > 0 && { cacheWriteOther }),
  };
  return Object.keys(extra).length > 0 ? { ...usage, extra } : usage;
}
