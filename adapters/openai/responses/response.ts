/**
 * Reader for streams of the Responses API.
 *
 * @module
 */

import type { BlockWriter } from "../../../src/core/block_writer.ts";
import type { Citation } from "../../../src/core/content.ts";
import { ContentFilteredError, NetworkError } from "../../../src/core/errors.ts";
import { isJsonObject, type JsonObject } from "../../../src/core/json.ts";
import type { Usage } from "../../../src/core/usage.ts";
import { classifyStreamError } from "../../kit/errors/classify.ts";
import { isErrorEvent } from "../../kit/errors/error_body.ts";
import type { ProviderCall } from "../../kit/provider.ts";
import { ArgumentsReader } from "../../kit/stream/arguments_reader.ts";
import { ClaudeInputWriter } from "../../kit/stream/claude_input_writer.ts";
import type { ReplyReader } from "../../kit/stream/event_stream.ts";
import { type RequestName, ServerRequests } from "../../kit/stream/server_requests.ts";
import { countTierRequest } from "../../kit/stream/service_tier.ts";
import { createSecondReplyError } from "../../kit/stream/single_reply.ts";
import { UnknownParts } from "../../kit/stream/unknown_parts.ts";
import { readList, readObject, readText, textOrEmpty } from "../../kit/stream/wire_values.ts";
import { isClaude } from "../chat/claude.ts";
import { toChatCost, toChatUsage } from "../chat/usage.ts";
import { toCitations } from "../server/citations.ts";
import { type ItemPosition, type OpenCall, OpenCalls } from "./calls.ts";
import {
  ITEM_PREFIX,
  type WireEvent,
  type WireItem,
  type WireResponse,
  type WireResponseUsage,
} from "./wire.ts";

/**
 * Events about the progress of the response or of an item, and parts that `response.output_item.done` repeats: content
 * parts, reasoning (at vLLM in parts of its own), and all of the provider's own tools.
 */
const REPEATED_EVENTS =
  /^(?:keepalive|response\.(?:queued|in_progress|(?:content|reasoning)_part\.\w+|reasoning_\w+\.done|(?:\w+_call\w*|mcp_list_tools)\.\w+))$/;

/** Requests with a fee by the type of their item. */
const REQUEST_NAMES: Readonly<Record<string, RequestName>> = {
  web_search_call: "webSearchRequests",
  file_search_call: "fileSearchRequests",
  code_interpreter_call: "codeExecutionRequests",
  image_generation_call: "imageGenerationRequests",
};

/** Options for `new ResponsesReply()`. */
export interface ResponsesReplyOptions {
  /** Whether the server is in a region with data residency. Default: `false`. */
  readonly isRegional?: boolean | undefined;
}

/** Reads the events of one reply. */
export class ResponsesReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #call: ProviderCall;
  readonly #calls = new OpenCalls();
  readonly #arguments = new ArgumentsReader();
  readonly #inputs: ClaudeInputWriter;
  /** Positions of arguments without a call; the end of its item repeats them. */
  readonly #orphanArguments: ItemPosition[] = [];
  readonly #unknown: UnknownParts;
  readonly #requests = new ServerRequests();
  /** The current event. */
  #data = "";
  #responseId = "";
  #wireUsage: WireResponseUsage | null = null;
  #refusal = "";
  /** Whether the current part has text. */
  #hasText = false;
  /** Whether the current message has text. */
  #messageHasText = false;
  /** Whether the current reasoning has text. */
  #hasThinking = false;
  /** Annotations of the current message, which its end usually repeats. */
  #annotations: unknown[] = [];
  #hasClosedItem = false;
  /** The last call, if its item has ended without arguments. */
  #endedCall: OpenCall | undefined;
  /** Calls whose item has ended without arguments, before another item; the last event may have their arguments. */
  readonly #emptyCalls: OpenCall[] = [];
  #hasToolCall = false;
  #hasMessage = false;

  /** Creates a reader for the reply of a call. */
  constructor(call: ProviderCall, { isRegional = false }: ResponsesReplyOptions = {}) {
    if (isRegional) this.#requests.add("regionalRequests");
    this.#writer = call.writer;
    const { model, context } = call.request;
    this.#inputs = new ClaudeInputWriter(call.writer, isClaude(model) ? context.tools : []);
    this.#unknown = new UnknownParts(call.writer);
    this.#call = call;
  }

  /** Usage, once received. */
  get usage(): Usage | undefined {
    if (this.#wireUsage === null) return undefined;
    return this.#requests.addTo(toResponsesUsage(this.#wireUsage));
  }

  /** Reads the data of one event. */
  read(data: string): void {
    if (data.startsWith("[DONE]")) return;
    this.#data = data;
    const event: WireEvent = JSON.parse(data);
    switch (event.type) {
      case "response.created":
        return this.#startResponse(Object(event.response)["id"]);
      case "response.output_text.delta":
        return this.#appendText(event.delta);
      case "response.output_text.done":
        // Some servers send text without deltas.
        if (!this.#hasText) this.#appendText(event.text);
        this.#hasText = false;
        return;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#appendThinking(event.delta);
      case "response.function_call_arguments.delta":
        return this.#appendArguments(event, readText(event.delta));
      case "response.function_call_arguments.done":
        return this.#completeArguments(event, event.arguments);
      case "response.refusal.delta":
        this.#refusal += readText(event.delta);
        return;
      case "response.refusal.done":
        this.#refusal ||= readText(event.refusal);
        return;
      case "response.output_text.annotation.added":
        this.#annotations.push(event.annotation);
        return;
      case "response.reasoning_summary_part.added":
        return this.#writer.closeTextOrThinking();
      case "response.output_item.added":
        this.#passEndedCall();
        if (readObject(event.item)?.type === "function_call") this.#openCall(event, event.item);
        return;
      case "response.output_item.done":
        return this.#closeItem(event, event.item);
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#finish(event.type, readObject(event.response) ?? {});
      case "error":
        throw classifyStreamError(event, this.#call.origin);
      default:
        if (isErrorEvent(event)) throw classifyStreamError(event, this.#call.origin);
        this.#reportUnknown(Object(event)["type"]);
    }
  }

  /** Refuses a second response, such as a gateway sends when it repeats a failed request within one stream. */
  #startResponse(id: unknown): void {
    const responseId = textOrEmpty(id);
    const isRepeated = responseId !== "" && responseId === this.#responseId;
    this.#responseId = responseId;
    if (isRepeated || !this.#writer.hasContent) return;
    throw createSecondReplyError(this.#call.origin, "response");
  }

  #reportUnknown(type: unknown): void {
    const isKnown = typeof type === "string" && REPEATED_EVENTS.test(type);
    if (!isKnown) this.#unknown.report("an event", type);
  }

  #appendThinking(text: unknown): void {
    this.#hasThinking = true;
    this.#writer.writeThinking(readText(text));
  }

  #appendText(text: unknown): void {
    this.#hasText = true;
    this.#messageHasText = true;
    this.#hasMessage = true;
    this.#writer.writeText(readText(text));
  }

  /** Opens the call of an item, unless it is open: some servers send the start of an item twice. */
  #openCall(position: ItemPosition, item: WireItem): OpenCall {
    const known = this.#calls.findItem(position, item);
    if (known) return known;
    this.#hasToolCall = true;
    const name = this.#call.decodeToolName(readText(item.name));
    const contentIndex = this.#writer.openToolCall(textOrEmpty(item.call_id), name);
    this.#inputs.start(contentIndex, name);
    const args = this.#arguments.toText(item.arguments, this.#data);
    return this.#calls.add(position, { ...item, arguments: args }, contentIndex);
  }

  #appendArguments(position: ItemPosition, delta: string): void {
    if (delta === "") return;
    const call = this.#calls.find(position);
    if (call) this.#writeArguments(call, delta);
    else this.#addOrphan(position);
  }

  #addOrphan({ output_index, item_id }: ItemPosition): void {
    const last = this.#orphanArguments.at(-1);
    if (last && last.output_index === output_index && last.item_id === item_id) return;
    this.#orphanArguments.push({ output_index, item_id });
  }

  #writeArguments(call: OpenCall, args: string): void {
    if (args === "") return;
    call.hasArguments = true;
    this.#inputs.append(call.contentIndex, args);
  }

  /** Writes complete arguments of an open call without deltas. */
  #completeArguments(position: ItemPosition, args: unknown): void {
    const call = this.#calls.find(position);
    if (call) this.#completeCall(call, args);
    else this.#appendArguments(position, this.#arguments.toText(args, this.#data));
  }

  #completeCall(call: OpenCall, args: unknown): void {
    if (!call.hasArguments) this.#writeArguments(call, this.#arguments.toText(args, this.#data));
  }

  /** Writes the arguments of calls whose item has not ended. */
  #completeCalls(output: readonly WireItem[]): void {
    const calls = this.#calls.all.filter(({ hasArguments }) => !hasArguments);
    const itemsByCall = calls.length === 0 ? new Map<string, WireItem>() : indexByCall(output);
    for (const call of calls) {
      const { id, name, index = -1, earlyArguments } = call;
      const { [index]: atIndex } = output;
      const item = belongsTo(atIndex, call) ? atIndex : itemsByCall.get(toCallKey(id, name));
      this.#completeCall(call, earlyArguments);
      this.#completeCall(call, (item ?? atIndex)?.arguments);
    }
  }

  /** Closes an item; some servers send its content only now. */
  #closeItem(position: ItemPosition, item: WireItem): void {
    if (!readObject(item)) return;
    this.#passEndedCall();
    this.#hasClosedItem = true;
    switch (item.type) {
      case "function_call":
        return this.#closeCall(position, item);
      case "message":
        return this.#closeMessage(item);
      case "reasoning":
        return this.#closeReasoning(item);
      default:
        this.#countRequest(item);
        return this.#writeExtension(item);
    }
  }

  #countRequest({ type, action }: WireItem): void {
    // A search may be followed by visits of its pages, which have no fee.
    const isVisit = (readObject(action)?.["type"] ?? "search") !== "search";
    const name = type === "web_search_call" && isVisit ? undefined : REQUEST_NAMES[type];
    if (name) this.#requests.add(name);
  }

  /** Reads the items of a response that ended no item before, and calls and messages of one that had none of them. */
  #closeMissedItems(output: readonly WireItem[]): void {
    const missedTypes = this.#hasMessage ? [] : ["message"];
    const missedCalls = this.#findMissedCalls(output);
    const hasItems = this.#hasClosedItem;
    const [hasMessage, hasThinking] = [this.#hasMessage, this.#hasThinking];
    for (const [index, item] of output.entries()) {
      const type = textOrEmpty(readObject(item)?.type);
      const position = { output_index: index };
      const isMissed = type === "function_call"
        ? missedCalls.has(item) || (!hasItems && this.#calls.findItem(position, item))
        : missedTypes.includes(type) || !hasItems;
      if (!isMissed) continue;
      // Deltas that no end of an item followed are those of all items.
      this.#messageHasText ||= hasMessage;
      this.#hasThinking ||= hasThinking;
      this.#closeItem(position, item);
    }
  }

  /** Finds the calls that no event contained. Some servers send other ids at the end, so that no call is another one. */
  #findMissedCalls(output: readonly WireItem[]): ReadonlySet<WireItem> {
    const items = output.filter((item) => readObject(item)?.type === "function_call");
    const itemIds = new Set(items.map(({ call_id }) => call_id));
    const ids = new Set(this.#calls.all.map(({ id }) => id));
    const hasSameIds = [...ids].every((id) => id !== "" && itemIds.has(id));
    return new Set(hasSameIds ? items.filter((item) => !ids.has(textOrEmpty(item.call_id))) : []);
  }

  #closeReasoning(item: WireItem): void {
    if (!this.#hasThinking) {
      const parts = toParts(item["summary"]).length > 0 ? item["summary"] : item.content;
      this.#writer.writeThinking(toParts(parts).map(({ text }) => readText(text)).join("\n\n"));
    }
    this.#hasThinking = false;
    this.#writer.closeTextOrThinking();
    if (shouldReplay(item)) this.#writeExtension(item);
  }

  #closeMessage({ phase, content }: WireItem): void {
    this.#hasMessage = true;
    const parts = toParts(content);
    if (!this.#messageHasText) this.#appendParts(parts);
    this.#messageHasText = false;
    this.#hasText = false;
    const inParts = parts.flatMap(({ annotations }) => toCitations(annotations));
    this.#closeText(inParts, textOrEmpty(phase) || undefined);
  }

  /** Closes the text of a message; without citations in its parts, with those of the events. */
  #closeText(inParts: readonly Citation[], signature?: string): void {
    const citations = inParts.length > 0 ? inParts : toCitations(this.#annotations);
    this.#annotations = [];
    const options = { signature, ...(citations.length > 0 && { citations }) };
    if (Object.values(options).some((value) => value !== undefined)) {
      this.#writer.closeText(options);
    } else this.#writer.closeTextOrThinking();
  }

  #appendParts(parts: readonly JsonObject[]): void {
    for (const part of parts) {
      this.#writer.writeText(readText(part["text"]));
      // The deltas of a refusal repeat it.
      if (this.#refusal === "") this.#refusal = readText(part["refusal"]);
    }
  }

  #closeCall(position: ItemPosition, item: WireItem): void {
    const call = this.#openCall(position, item);
    this.#completeCall(call, item.arguments);
    // The token limit truncates a call, whose block stays open.
    if (item.status === "incomplete") return;
    // Some servers end the item of a call that was cut off before its arguments like that of a complete one.
    if (call.hasArguments) this.#closeToolCall(call.contentIndex);
    else this.#endedCall = call;
  }

  #closeToolCall(contentIndex: number): void {
    this.#inputs.end(contentIndex);
    this.#writer.closeToolCall(contentIndex);
  }

  /** Another item follows a call without arguments, which is complete. That of the last one the stop reason decides. */
  #passEndedCall(): void {
    if (this.#endedCall) this.#emptyCalls.push(this.#endedCall);
    this.#endedCall = undefined;
  }

  #writeExtension(item: WireItem): void {
    this.#writer.writeExtension(ITEM_PREFIX + item.type, item);
  }

  #finish(type: string, response: WireResponse): void {
    this.#writer.setResponseId(response.id);
    this.#wireUsage = response.usage ?? this.#wireUsage;
    const requested = this.#call.request.options.serviceTier;
    countTierRequest(this.#requests, { reported: response.service_tier, requested });
    const { origin } = this.#call;
    const status = textOrEmpty(response.status) || type.replace("response.", "");
    if (status === "failed" || response.error) {
      const error = response.error ?? { message: "The response failed without an error" };
      throw classifyStreamError({ error }, origin);
    }
    const output = readList(response.output);
    this.#closeMissedItems(output);
    this.#completeCalls(output);
    for (const { contentIndex } of this.#emptyCalls) this.#closeToolCall(contentIndex);
    this.#inputs.endAll();
    if (this.#annotations.length > 0) this.#closeText([]);
    for (const position of this.#orphanArguments) {
      if (!this.#calls.find(position)) this.#unknown.reportOrphanDelta("function_call_arguments");
    }
    const { provider } = origin;
    if (status !== "completed" && status !== "incomplete") {
      throw new NetworkError(`${provider}: the reply ended with the status ${status}`, {
        provider,
      });
    }
    const usage = this.#requests.addTo(toResponsesUsage(this.#wireUsage ?? {}));
    const reason = response.incomplete_details?.reason;
    if (this.#refusal !== "" || reason === "content_filter") {
      const message = this.#refusal === ""
        ? `${provider} filtered the reply`
        : `${provider} refused: ${this.#refusal}`;
      return this.#writer.fail(new ContentFilteredError(message, { provider }), usage);
    }
    const stopReason = this.#hasToolCall ? "tool_use" : "stop";
    const isTruncated = status === "incomplete" || type === "response.incomplete";
    this.#writer.finish({
      stopReason: isTruncated ? "length" : stopReason,
      usage,
      cost: toChatCost(this.#wireUsage ?? {}),
    });
  }
}

/** Whether an item is the end of a call, by its id and name. */
function belongsTo(item: WireItem | undefined, { id, name }: OpenCall): boolean {
  const found = readObject(item);
  return id !== "" && found?.call_id === id && found.name === name;
}

/** Returns the first item of each call that has an id. */
function indexByCall(output: readonly WireItem[]): ReadonlyMap<string, WireItem> {
  const items = new Map<string, WireItem>();
  for (const item of output) {
    const { call_id: id, name } = readObject(item) ?? {};
    if (typeof id !== "string" || typeof name !== "string" || id === "") continue;
    const key = toCallKey(id, name);
    if (!items.has(key)) items.set(key, item);
  }
  return items;
}

function toCallKey(id: string, name: string): string {
  return JSON.stringify([id, name]);
}

/** Returns the parts of a message or of reasoning. */
function toParts(content: unknown): readonly JsonObject[] {
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

/** Whether reasoning is sent back: if it is encrypted, or contains the text of an open model. */
function shouldReplay({ encrypted_content: encrypted, content }: WireItem): boolean {
  return Boolean(encrypted) || (Array.isArray(content) && content.length > 0);
}

function toResponsesUsage(counts: WireResponseUsage): Usage {
  return toChatUsage({
    prompt_tokens: counts.input_tokens ?? 0,
    completion_tokens: counts.output_tokens ?? 0,
    ...(counts.total_tokens !== undefined && { total_tokens: counts.total_tokens }),
    prompt_tokens_details: counts.input_tokens_details ?? null,
    completion_tokens_details: counts.output_tokens_details ?? null,
  });
}
