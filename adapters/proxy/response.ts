/**
 * Validates a proxy's events and converts them to a reply.
 *
 * @module
 */

import { AgentError, NetworkError, StreamError } from "../../src/core/errors/errors.ts";
import { isJsonObject } from "../../src/core/json/json.ts";
import { toValidCost, toValidUsage } from "../../src/core/models/valid_usage.ts";
import type { BlockEndOptions, BlockWriter } from "../../src/core/streams/block_writer.ts";
import type { BlockEndEvent } from "../../src/core/streams/stream.ts";
import { redact } from "../../src/core/text/redact.ts";
import { classifyStreamError, type ErrorOrigin } from "../kit/errors/classify.ts";
import { isErrorValue } from "../kit/errors/error_body.ts";
import type { ReplyReader } from "../kit/stream/event_stream.ts";
import {
  anyValue,
  array,
  boolean,
  discriminatedUnion,
  nonNegativeInteger,
  nonNegativeNumber,
  nullValue,
  number,
  objectWith,
  oneOf,
  record,
  string,
  union,
  type Validator,
} from "./validators.ts";
import type { ProxyErrorEvent, ProxyEvent } from "./wire.ts";

const USAGE = createAmounts(nonNegativeNumber);
/** The amounts that are `null` are unknown. */
const COST = createAmounts(union(nonNegativeNumber, nullValue));

const ERROR = objectWith({ code: string, message: string }, {
  retryable: boolean,
  status: number,
  retryAfterMs: number,
  provider: string,
  requestId: string,
});

const BLOCK_START = objectWith({ contentIndex: nonNegativeInteger });
const BLOCK_DELTA = objectWith({ contentIndex: nonNegativeInteger, delta: string });
const SOURCE = { title: string, text: string };
const CITATION = discriminatedUnion("type", {
  url: objectWith({ url: string }, SOURCE),
  document: objectWith({}, {
    ...SOURCE,
    documentIndex: nonNegativeInteger,
    range: objectWith({ unit: string, start: number, end: number }),
  }),
});
const BLOCK_END = objectWith({ contentIndex: nonNegativeInteger }, {
  signature: string,
  redacted: boolean,
  citations: array(CITATION),
});

/** Validators by event type. */
const EVENTS: Readonly<Record<string, Validator>> = {
  start: anyValue,
  text_start: BLOCK_START,
  text_delta: BLOCK_DELTA,
  text_end: BLOCK_END,
  thinking_start: BLOCK_START,
  thinking_delta: BLOCK_DELTA,
  thinking_end: BLOCK_END,
  tool_call_start: objectWith({ contentIndex: nonNegativeInteger, id: string, name: string }),
  tool_call_delta: BLOCK_DELTA,
  tool_call_end: BLOCK_END,
  extension: objectWith({ contentIndex: nonNegativeInteger, typeName: string }),
  warning: objectWith({ code: string, message: string }),
  done: objectWith({ stopReason: oneOf("stop", "length", "tool_use"), usage: USAGE }, {
    cost: COST,
    responseId: string,
  }),
  error: objectWith({ error: ERROR }, { usage: USAGE }),
};

function createAmounts(amount: Validator): Validator {
  return objectWith({}, {
    input: amount,
    output: amount,
    cacheRead: amount,
    cacheWrite: amount,
    total: amount,
    extra: record(amount),
  });
}

type OpenBlock =
  | { readonly type: "text" | "thinking" }
  | { readonly type: "tool_call"; readonly contentIndex: number };

/** Reads the events of one stream and writes the reply. */
export class ProxyReply implements ReplyReader<string> {
  readonly #writer: BlockWriter;
  readonly #origin: ErrorOrigin;
  /** Open blocks by the proxy's content index. */
  readonly #blocks = new Map<number, OpenBlock>();

  constructor(writer: BlockWriter, origin: ErrorOrigin) {
    this.#writer = writer;
    this.#origin = origin;
  }

  /** Reads one event. */
  read(data: string): void {
    if (data === "[DONE]") {
      throw this.#createStreamError("[DONE] was received before the reply was complete");
    }
    const event = this.#parse(data);
    if (event !== undefined) this.#apply(event);
  }

  /** Parses and validates an event; an unknown type is reported as a warning and gives `undefined`. */
  #parse(data: string): ProxyEvent | undefined {
    const value: unknown = JSON.parse(data);
    const type = isJsonObject(value) ? value["type"] : undefined;
    const isForeignError = type === undefined && isJsonObject(value) && isErrorValue(value);
    // A server between the agent and the proxy has another form of errors.
    if (isForeignError) throw classifyStreamError(value, this.#origin);
    if (typeof type !== "string") throw this.#createStreamError("Invalid event without a type");
    const validate = Object.hasOwn(EVENTS, type) ? EVENTS[type] : undefined;
    if (validate === undefined) {
      this.#writer.warning("unknown_event", `Unknown event from the proxy: ${type}`);
      return undefined;
    }
    const problem = validate(value);
    if (problem !== undefined) throw this.#createStreamError(`Invalid event: ${type}${problem}`);
    return value as ProxyEvent;
  }

  #apply(event: ProxyEvent): void {
    const writer = this.#writer;
    switch (event.type) {
      case "start":
        return;
      case "text_start":
        return void this.#blocks.set(event.contentIndex, { type: "text" });
      case "thinking_start":
        return void this.#blocks.set(event.contentIndex, { type: "thinking" });
      case "tool_call_start": {
        const contentIndex = writer.openToolCall(event.id, event.name);
        return void this.#blocks.set(event.contentIndex, { type: "tool_call", contentIndex });
      }
      case "text_delta":
        this.#getOpenBlock(event.contentIndex, "text");
        return writer.writeText(event.delta);
      case "thinking_delta":
        this.#getOpenBlock(event.contentIndex, "thinking");
        return writer.writeThinking(event.delta);
      case "tool_call_delta":
        return writer.writeToolArguments(this.#getCallIndex(event.contentIndex), event.delta);
      case "text_end":
      case "thinking_end":
      case "tool_call_end":
        return this.#close(event);
      case "extension":
        return writer.writeExtension(event.typeName, event.data);
      case "warning":
        return writer.warning(event.code, event.message, this.#redactData(event.data));
      case "done": {
        const { stopReason, usage, cost, responseId } = event;
        return writer.finish({
          stopReason,
          usage: toValidUsage(usage),
          cost: cost && toValidCost(cost),
          responseId,
        });
      }
      case "error":
        return this.#fail(event);
    }
  }

  #getOpenBlock(contentIndex: number, type: OpenBlock["type"]): OpenBlock {
    const block = this.#blocks.get(contentIndex);
    if (block?.type === type) return block;
    throw this.#createStreamError(`Invalid event: block ${contentIndex} is not an open ${type}`);
  }

  #getCallIndex(contentIndex: number): number {
    const block = this.#getOpenBlock(contentIndex, "tool_call");
    return block.type === "tool_call" ? block.contentIndex : -1;
  }

  #close({ type, contentIndex, signature, redacted, citations }: BlockEndEvent): void {
    const options: BlockEndOptions = { signature, redacted, citations };
    const isSigned = signature !== undefined || citations !== undefined;
    switch (type) {
      case "text_end":
        this.#getOpenBlock(contentIndex, "text");
        if (isSigned) this.#writer.closeText(options);
        else this.#writer.closeTextOrThinking();
        break;
      case "thinking_end":
        this.#getOpenBlock(contentIndex, "thinking");
        if (isSigned) this.#writer.closeThinking(options);
        else this.#writer.closeTextOrThinking();
        break;
      case "tool_call_end":
        this.#writer.closeToolCall(this.#getCallIndex(contentIndex), options);
        break;
    }
    this.#blocks.delete(contentIndex);
  }

  #redactData(data: unknown): unknown {
    if (data === undefined) return undefined;
    return JSON.parse(redact(JSON.stringify(data), this.#origin.secrets));
  }

  #fail({ error: record, usage }: ProxyErrorEvent): void {
    const { provider } = this.#origin;
    const { message } = record;
    // The agent did not abort, so a retry may succeed.
    const error = record.code === "aborted"
      ? new NetworkError(`${provider}: The proxy aborted the reply: ${message}`, { provider })
      : AgentError.from({ provider, ...record });
    this.#writer.fail(error, usage && toValidUsage(usage));
  }

  #createStreamError(message: string): StreamError {
    const { provider } = this.#origin;
    return new StreamError(`${provider}: ${message}`, { provider });
  }
}
