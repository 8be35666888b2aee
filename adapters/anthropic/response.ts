/**
 * Converts Anthropic's event stream to a reply.
 *
 * @module
 */

import type { BlockWriter, FinishedReply } from "../../src/core/block_writer.ts";
import { ContentFilteredError, NetworkError } from "../../src/core/errors.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import type { Usage } from "../../src/core/usage.ts";
import { classifyStreamError } from "../kit/errors/classify.ts";
import { isErrorEvent } from "../kit/errors/error_body.ts";
import type { ProviderCall } from "../kit/provider.ts";
import { ArgumentsReader } from "../kit/stream/arguments_reader.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import { DeltaTemplate } from "../kit/stream/delta_template.ts";
import { ServerRequests } from "../kit/stream/server_requests.ts";
import { countTierRequest } from "../kit/stream/service_tier.ts";
import { createSecondReplyError } from "../kit/stream/single_reply.ts";
import { UnknownParts } from "../kit/stream/unknown_parts.ts";
import {
  countOrZero,
  parseJsonOrUndefined,
  readObject,
  readText,
  textOrEmpty,
} from "../kit/stream/wire_values.ts";
import { toCallSignature } from "./caller.ts";
import { toCitation } from "./citations.ts";
import { CONTAINER } from "./container.ts";
import { ClaudeInputWriter } from "../kit/stream/claude_input_writer.ts";
import { countModelRequests, toUsage } from "./usage.ts";
import {
  EXTENSION_PREFIX,
  type WireBlockDelta,
  type WireBlockStart,
  type WireCitation,
  type WireContainer,
  type WireDelta,
  type WireEvent,
  type WireUsage,
} from "./wire.ts";

type OpenBlock =
  | { readonly type: "text"; readonly citations: WireCitation[] }
  | { readonly type: "thinking"; signature: string }
  | {
    readonly type: "tool_use";
    readonly contentIndex: number;
    readonly signature: string | undefined;
    input: unknown;
    /** The event with the input of its start. */
    readonly source: string;
    hasEnded: boolean;
  }
  | { readonly type: "item"; item: JsonObject; json: string };

/** Reads the events of one stream and writes the reply. */
export class AnthropicReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #call: ProviderCall;
  readonly #blocks = new Map<number, OpenBlock>();
  readonly #arguments = new ArgumentsReader();
  readonly #inputs: ClaudeInputWriter;
  readonly #unknown: UnknownParts;
  readonly #textTemplate = new DeltaTemplate("text", getText);
  readonly #inputTemplate = new DeltaTemplate("partial_json", getInput);
  readonly #requests = new ServerRequests();
  #wireUsage: WireUsage = {};
  #stopReason: string | null = null;
  #explanation = "";
  #messageId: string | null = null;
  #container: WireContainer | null = null;
  #hasToolCall = false;

  constructor(call: ProviderCall) {
    this.#writer = call.writer;
    this.#inputs = new ClaudeInputWriter(call.writer, call.request.context.tools);
    this.#unknown = new UnknownParts(call.writer);
    this.#call = call;
  }

  /** Tokens counted so far. */
  get usage(): Usage {
    const searches = this.#wireUsage.server_tool_use?.web_search_requests;
    this.#requests.set("webSearchRequests", countOrZero(searches));
    // The tier of a request only permits the priority tier; which one served it is always reported.
    countTierRequest(this.#requests, { reported: this.#wireUsage.service_tier });
    countTierRequest(this.#requests, { reported: this.#wireUsage.speed });
    const region = textOrEmpty(this.#wireUsage.inference_geo);
    this.#requests.set("regionalRequests", /^(?:global|not_available|)$/.test(region) ? 0 : 1);
    countModelRequests(this.#requests, this.#wireUsage);
    return this.#requests.addTo(toUsage(this.#wireUsage));
  }

  /** Reads one event. */
  read(data: string): void {
    if (this.#textTemplate.read(data) || this.#inputTemplate.read(data)) return;
    if (data.startsWith("[DONE]")) return this.#readDone();
    const event: WireEvent = JSON.parse(data);
    switch (event.type) {
      case "content_block_delta":
        this.#learn(data, event);
        return this.#append(event.index, requireObject(event.delta));
      case "content_block_start":
        this.#closeUnended(event.index);
        this.#blocks.set(event.index, this.#startBlock(requireObject(event.content_block), data));
        return;
      case "content_block_stop":
        return this.#endBlock(event.index);
      case "message_start": {
        const { id, usage, container } = requireObject(event.message);
        this.#startMessage(id);
        this.#writer.setResponseId(id);
        this.#container = container ?? this.#container;
        return this.#updateUsage(usage);
      }
      case "message_delta": {
        const { stop_reason: reason, stop_details: details, container } = requireObject(
          event.delta,
        );
        this.#updateUsage(event.usage);
        this.#container = container ?? this.#container;
        this.#stopReason = textOrEmpty(reason) || this.#stopReason;
        this.#explanation = textOrEmpty(details?.explanation) || this.#explanation;
        return;
      }
      case "message_stop":
        return this.#finish();
      case "error":
        throw classifyStreamError(event, this.#call.origin);
      case "ping":
        return;
      default:
        if (isErrorEvent(event)) throw classifyStreamError(event, this.#call.origin);
        this.#unknown.report("an event", Object(event)["type"]);
    }
  }

  /**
   * Refuses a second message, such as a gateway sends when it repeats a failed request within one stream. Some gateways
   * repeat the start of a message.
   */
  #startMessage(id: unknown): void {
    const messageId = textOrEmpty(id);
    const isRepeated = messageId !== "" && messageId === this.#messageId;
    const isFirst = this.#messageId === null || (isRepeated && this.#blocks.size === 0);
    this.#messageId = messageId;
    if (isFirst && !this.#writer.hasContent) return;
    throw createSecondReplyError(this.#call.origin, "message");
  }

  /** Handles the end of a stream in OpenAI's form, which some gateways send in place of `message_stop`. */
  #readDone(): void {
    if (this.#stopReason !== null) return this.#finish();
    const { provider } = this.#call.origin;
    throw new NetworkError(`${provider}: the reply ended without a stop reason`, { provider });
  }

  #learn(data: string, event: WireEvent & { readonly type: "content_block_delta" }): void {
    const { index } = event;
    const text = getText(event);
    if (text) this.#textTemplate.learn(data, text, (next) => this.#writer.writeText(next));
    const json = getInput(event);
    if (json) this.#inputTemplate.learn(data, json, (next) => this.#appendInput(index, next));
  }

  #startBlock(block: WireBlockStart, source: string): OpenBlock {
    switch (block.type) {
      case "text":
        this.#writer.writeText(readText(block.text));
        return { type: "text", citations: [...block.citations ?? []] };
      case "thinking":
        this.#writer.writeThinking(readText(block.thinking));
        return { type: "thinking", signature: textOrEmpty(block.signature) };
      case "redacted_thinking":
        this.#writer.closeThinking({ signature: textOrEmpty(block.data), redacted: true });
        return { type: "text", citations: [] };
      case "tool_use": {
        this.#hasToolCall = true;
        const name = this.#call.decodeToolName(readText(block.name));
        const contentIndex = this.#writer.openToolCall(textOrEmpty(block.id), name);
        this.#inputs.start(contentIndex, name);
        const signature = toCallSignature(block);
        const { input } = block;
        return { type: "tool_use", contentIndex, signature, input, source, hasEnded: false };
      }
      default:
        if (isCodeExecution(block)) this.#requests.add("codeExecutionRequests");
        return { type: "item", item: { ...block }, json: "" };
    }
  }

  #append(index: number, delta: WireDelta): void {
    switch (delta.type) {
      case "text_delta":
        return this.#writer.writeText(readText(delta.text));
      case "thinking_delta":
        return this.#writer.writeThinking(readText(delta.thinking));
      case "input_json_delta":
        return this.#appendInput(index, readText(delta.partial_json));
      default:
        this.#appendToBlock(this.#blocks.get(index), delta);
    }
  }

  /** Appends a delta that belongs to the start of its block. */
  #appendToBlock(block: OpenBlock | undefined, delta: WireBlockDelta): void {
    switch (delta.type) {
      case "signature_delta":
        if (block?.type !== "thinking") break;
        block.signature += textOrEmpty(delta.signature);
        return;
      case "citations_delta":
        if (block?.type !== "text") break;
        block.citations.push(delta.citation);
        return;
      case "compaction_delta": {
        if (block?.type !== "item") break;
        const { type: _type, ...fields } = delta;
        block.item = { ...block.item, ...fields };
        return;
      }
      default:
        return this.#unknown.report("a delta", Object(delta)["type"]);
    }
    this.#unknown.reportOrphanDelta(delta.type);
  }

  #appendInput(index: number, json: string): void {
    // Input of an unknown block is that of the open call, which must not run without it.
    const block = this.#blocks.get(index) ?? this.#findOpenCall();
    if (json === "") return;
    if (block?.type === "tool_use") {
      // Some gateways send the empty input of the start before the input.
      if (block.input !== undefined && json.trim() === "{}") return;
      block.input = undefined;
      this.#inputs.append(block.contentIndex, json);
    } else if (block?.type === "item") {
      block.json += json;
    } else {
      this.#unknown.reportOrphanDelta("input_json_delta");
    }
  }

  #findOpenCall(): OpenBlock | undefined {
    return [...this.#blocks.values()].findLast((block) =>
      block.type === "tool_use" && !block.hasEnded
    );
  }

  /**
   * Handles the end of a block. The token limit may have cut off a call before its arguments, so that one without any
   * stays open until the next block or the stop reason shows that it is complete.
   */
  #endBlock(index: number): void {
    const block = this.#blocks.get(index);
    if (block?.type === "tool_use" && isEmptyInput(block.input)) block.hasEnded = true;
    else this.#close(index);
  }

  #close(index: number): void {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    switch (block?.type) {
      case "text":
        return this.#closeText(block.citations);
      case "thinking":
        if (block.signature === "") return this.#writer.closeTextOrThinking();
        return this.#writer.closeThinking({ signature: block.signature });
      case "tool_use":
        // The start may carry the complete input; usually it carries an empty object.
        if (!isEmptyInput(block.input)) {
          const { contentIndex, input, source } = block;
          this.#inputs.append(contentIndex, this.#arguments.toText(input, source));
        }
        this.#inputs.end(block.contentIndex);
        return this.#writer.closeToolCall(block.contentIndex, { signature: block.signature });
      case "item":
        return this.#writeItem(block.item, block.json);
    }
  }

  /** Stores a server-side item (search, compaction), which has to be sent back unchanged. */
  #writeItem(item: JsonObject, json: string): void {
    const type = String(item["type"]);
    const input = json === "" ? item["input"] : parseJsonOrUndefined(json);
    if (json !== "" && input === undefined) return this.#unknown.reportCutItem(type);
    const data = input === undefined ? item : { ...item, input };
    this.#writer.writeExtension(EXTENSION_PREFIX + type, data);
  }

  /**
   * Closes blocks when the next one starts: calls that have ended, and those whose end some gateways omit: text and
   * thinking, which only one block at a time has, and the block at an index.
   */
  #closeUnended(nextIndex: number): void {
    for (const [index, block] of this.#blocks) {
      const isProse = block.type === "text" || block.type === "thinking";
      const hasEnded = block.type === "tool_use" && block.hasEnded;
      if (index === nextIndex || isProse || hasEnded) this.#close(index);
    }
  }

  #closeText(wireCitations: readonly WireCitation[]): void {
    const citations = wireCitations.map(toCitation);
    if (citations.length > 0) this.#writer.closeText({ citations });
    else this.#writer.closeTextOrThinking();
  }

  #updateUsage(counts: WireUsage | undefined): void {
    const known = Object.entries(counts ?? {}).filter(([, count]) => count !== null);
    this.#wireUsage = { ...this.#wireUsage, ...Object.fromEntries(known) };
  }

  #finish(): void {
    const { usage } = this;
    const reason = this.#stopReason?.toLowerCase();
    switch (reason) {
      case "max_tokens":
      case "model_context_window_exceeded":
        return this.#complete({ stopReason: "length", usage });
      case "refusal":
      case "content_filter": {
        const { provider } = this.#call.origin;
        const explanation = this.#explanation || "the model declined to answer";
        const message = `${provider} refused the request: ${explanation}`;
        return this.#writer.fail(new ContentFilteredError(message, { provider }), usage);
      }
      case "pause_turn":
      case "compaction":
        this.#writer.warning("paused_turn", "The model paused a long turn; prompt it to continue");
        break;
      case "tool_use":
      case "end_turn":
      case "stop_sequence":
      case undefined:
        break;
      default:
        this.#writer.warning("unknown_stop_reason", `Unknown stop reason: ${this.#stopReason}`);
    }
    // Some gateways omit the ends of blocks. That of a call which the token limit cut off stays open.
    for (const index of this.#blocks.keys()) this.#close(index);
    this.#complete({ stopReason: this.#hasToolCall ? "tool_use" : "stop", usage });
  }

  #complete(reply: FinishedReply): void {
    this.#inputs.endAll();
    if (this.#container) this.#writer.writeExtension(CONTAINER, this.#container);
    this.#writer.finish(reply);
  }
}

/** Returns an object that the API always sends. */
function requireObject<Value extends object>(value: Value): Value {
  const object = readObject(value);
  if (object) return object;
  throw new TypeError("Expected an object");
}

/** Whether an input has no member; that of a call with deltas is `undefined`. */
function isEmptyInput(input: unknown): boolean {
  return isJsonObject(input) && Object.keys(input).length === 0;
}

function isCodeExecution({ type, name }: WireBlockStart): boolean {
  return type === "server_tool_use" && /code_execution$/.test(textOrEmpty(name));
}

function getText(event: WireEvent): string {
  const isText = event.type === "content_block_delta" && event.delta.type === "text_delta";
  return isText ? textOrEmpty(event.delta.text) : "";
}

function getInput(event: WireEvent): string {
  const isInput = event.type === "content_block_delta" && event.delta.type === "input_json_delta";
  return isInput ? textOrEmpty(event.delta.partial_json) : "";
}
