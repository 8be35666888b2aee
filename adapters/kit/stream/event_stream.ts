/**
 * Turns a response into the events of a reply, which begin with `start` and end with exactly one `done` or `error`.
 *
 * @module
 */

import {
  AgentError,
  getErrorMessage,
  NetworkError,
  StreamError,
} from "../../../src/core/errors/errors.ts";
import type { Usage } from "../../../src/core/models/usage.ts";
import { ReadableQueue } from "../../../src/core/ports/readable_queue.ts";
import { startTimer } from "../../../src/core/ports/start_timer.ts";
import { BlockWriter } from "../../../src/core/streams/block_writer.ts";
import { redactEvent } from "../../../src/core/streams/redact_event.ts";
import type { AssistantMessageEvent, StreamRequest } from "../../../src/core/streams/stream.ts";
import { redact } from "../../../src/core/text/redact.ts";
import { describeLostConnection } from "../http/connection_error.ts";
import type { AdapterSettings } from "../options/adapter_options.ts";
import { IdleTimer } from "./idle_timer.ts";

/** Splits the bytes of a response into frames: server-sent events, lines, binary messages. */
export interface FrameParser<Frame> {
  /** Parses the next bytes and calls `onFrame` for each complete frame. */
  feed(bytes: Uint8Array, onFrame: (frame: Frame) => void): void;
  /** Calls `onFrame` for each frame that the end of the body completes. */
  end(onFrame: (frame: Frame) => void): void;
  /** Text that belongs to no frame, such as a message of a gateway; part of the error of an incomplete reply. */
  readonly unknownText?: string;
}

/** Turns frames into a reply. */
export interface ReplyReader<Frame> {
  /** Reads one frame. A thrown error ends the reply; one that is no `AgentError` becomes a `stream_error`. */
  read(frame: Frame): void;
  /** Handles the end of the body. A reply that is still open afterwards fails with a `network_error`. */
  end?(): void;
  /** Tokens used so far, reported when the reply fails. */
  readonly usage?: Usage | undefined;
}

/** A successful response, and what reads it. */
export interface OpenReply<Frame> {
  /** Body of the response; `null` for an empty one. */
  readonly body: ReadableStream<Uint8Array> | null;
  /** Splits the body into frames. */
  readonly parser: FrameParser<Frame>;
  /** Reads the frames. */
  readonly replyReader: ReplyReader<Frame>;
  /** Called before the first content of the reply, or its end without an error. */
  readonly onAccepted?: (() => void) | undefined;
}

/** Request and response of one model call. */
export interface Exchange<Frame> {
  /**
   * Sends the request and resolves with a successful response. Must end at once when `connection` aborts.
   *
   * @throws {AgentError} When the request fails.
   */
  open(connection: AbortController): Promise<OpenReply<Frame>>;
  /**
   * Sends the request again after a response that was an error instead of content. Default: that error ends the reply.
   *
   * @throws {AgentError} When the request fails; the error of the response if the request would fail again.
   */
  reopen?(error: AgentError, connection: AbortController): Promise<OpenReply<Frame>>;
  /** Texts to redact from errors of the connection, such as the key. */
  readonly secrets?: readonly string[];
}

/** Options for `toEventStream()`. */
export interface EventStreamOptions<Frame> {
  /** The model call. */
  readonly request: StreamRequest;
  /** Settings of the adapter. */
  readonly settings: Pick<AdapterSettings, "clock" | "idleTimeoutMs">;
  /** Creates the exchange, whose reader writes the reply with `writer`. */
  readonly createExchange: (writer: BlockWriter) => Exchange<Frame>;
  /** Called when the reply has ended, with the tokens used if known. */
  readonly onEnd?: (usage: Usage | undefined) => void;
}

/** Maximum number of bytes parsed at once, since a body may arrive as one huge chunk. */
const MAX_SLICE_BYTES = 32 * 1024;

/** Maximum size of a response: far above the longest reply with images, and below what exhausts the memory. */
const MAX_RESPONSE_BYTES = 128 * 1024 * 1024;

/** Maximum length of the text outside of frames in an error, in characters. */
const MAX_UNKNOWN_LENGTH = 500;

/** Maximum length of a text that is searched for secrets before it is shortened, in characters. */
const MAX_QUOTED_LENGTH = 10_000;

/** Maximum length of an event in an error, in characters. */
const MAX_FRAME_LENGTH = 200;

/** Maximum wait for the end of the body after the reply has ended, so that the connection can be reused. */
const CLOSE_TIMEOUT_MS = 50;

/**
 * Creates the event stream of one model call.
 *
 * The request is sent when the first event is read, and the body is read only as fast as the events are, so that a slow
 * reader slows down the provider. Abort and cancel close the connection at once.
 */
export function toEventStream<Frame>(
  options: EventStreamOptions<Frame>,
): ReadableStream<AssistantMessageEvent> {
  return new ReplyStream(options).events.stream();
}

/** The stream of the reply to one model call. */
class ReplyStream<Frame> {
  /** Events that have been written but not read. */
  readonly events: ReadableQueue<AssistantMessageEvent>;
  readonly #options: EventStreamOptions<Frame>;
  readonly #writer: BlockWriter;
  readonly #idleTimer: IdleTimer;
  readonly #connection = new AbortController();
  readonly #onAbort = () => this.#abort();
  readonly #onFrame = (frame: Frame) => {
    try {
      this.#reply?.replyReader.read(frame);
    } catch (thrown) {
      throw AgentError.is(thrown) ? thrown : this.#createFrameError(thrown, frame);
    }
  };
  #exchange: Exchange<Frame> | null = null;
  readonly #redact = (text: string): string => redact(text, this.#exchange?.secrets);
  #reply: OpenReply<Frame> | null = null;
  /** Called once, before the first content. */
  #onAccepted: (() => void) | undefined;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #chunk: Uint8Array = new Uint8Array(0);
  #size: ResponseSize;
  /** Before the first read, until the last event, and after it. */
  #state: "unread" | "open" | "closed" = "unread";
  /** Whether the reply ended with an error, so that its connection cannot be reused. */
  #failed = false;

  constructor(options: EventStreamOptions<Frame>) {
    this.#options = options;
    this.#size = new ResponseSize(options.request.model.provider);
    this.events = new ReadableQueue<AssistantMessageEvent>({
      pull: this.#advance,
      cancel: (reason) => {
        this.#close();
        this.#disconnect(reason);
      },
      readAhead: true,
    });
    this.#writer = new BlockWriter((event) => {
      if (this.#onAccepted !== undefined && isAccepting(event)) this.#accept(this.#onAccepted);
      this.events.push(redactEvent(event, this.#redact));
      if (event.type === "done" || event.type === "error") options.onEnd?.(event.usage);
    });
    const { clock, idleTimeoutMs: limitMs } = options.settings;
    this.#idleTimer = new IdleTimer({ clock, limitMs, onIdle: () => this.#timeOut() });
  }

  /** Takes one step: starts the reply, opens the connection, or reads a slice of the body. */
  readonly #advance = async (): Promise<void> => {
    if (this.#state === "unread") return this.#start();
    try {
      if (this.#reader !== null) {
        await this.#read(this.#reader);
      } else {
        this.#exchange = this.#options.createExchange(this.#writer);
        this.#receive(await this.#exchange.open(this.#connection));
      }
    } catch (thrown) {
      if (!this.#writer.ended && !this.#isClosed) await this.#recover(thrown);
    }
    if (this.#writer.ended && !this.#isClosed) this.#finish();
  };

  get #isClosed(): boolean {
    return this.#state === "closed";
  }

  #receive(reply: OpenReply<Frame>): void {
    this.#reply = reply;
    this.#size = new ResponseSize(this.#options.request.model.provider);
    this.#onAccepted = reply.onAccepted;
    const body = reply.body ?? new Blob().stream();
    if (this.#isClosed) body.cancel().catch(ignore);
    else this.#reader = body.getReader();
  }

  /** Sends the request again after a response that was an error, as of gateways that answer before they know of it. */
  async #recover(thrown: unknown): Promise<void> {
    const isResponse = this.#reader !== null && !this.#writer.hasContent;
    if (!isResponse || !AgentError.is(thrown) || !this.#exchange?.reopen) return this.#fail(thrown);
    try {
      const reply = await this.#exchange.reopen(thrown, this.#connection);
      this.#reader?.cancel().catch(ignore);
      this.#chunk = new Uint8Array(0);
      this.#receive(reply);
    } catch (other) {
      if (!this.#writer.ended && !this.#isClosed) this.#fail(other);
    }
  }

  #accept(onAccepted: () => void): void {
    this.#onAccepted = undefined;
    onAccepted();
  }

  #start(): void {
    const { signal } = this.#options.request;
    this.#state = "open";
    this.#writer.start();
    if (signal.aborted) this.#abort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const slice = await this.#nextSlice(reader);
    if (this.#reply === null || this.#isClosed) return;
    if (slice !== null) this.#reply.parser.feed(slice, this.#onFrame);
    else this.#readEnd(this.#reply);
  }

  #readEnd({ parser, replyReader }: OpenReply<Frame>): void {
    try {
      parser.end((frame) => replyReader.read(frame));
    } catch (thrown) {
      // An unreadable last frame was truncated, so its parse error is not reported.
      if (AgentError.is(thrown)) throw thrown;
    }
    replyReader.end?.();
    if (this.#writer.ended) return;
    const text = this.#quote(parser.unknownText ?? "", MAX_UNKNOWN_LENGTH);
    const problem = "the stream ended before the reply was complete";
    throw this.#createNetworkError(text ? `${problem}, with the text: ${text}` : problem);
  }

  async #nextSlice(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
    while (this.#chunk.length === 0) {
      const { done, value } = await this.#nextChunk(reader);
      if (done) return null;
      this.#size.add(value);
      this.#chunk = value;
    }
    const slice = this.#chunk.subarray(0, MAX_SLICE_BYTES);
    this.#chunk = this.#chunk.subarray(MAX_SLICE_BYTES);
    return slice;
  }

  async #nextChunk(
    reader: ReadableStreamDefaultReader<Uint8Array>,
  ): Promise<ReadableStreamReadResult<Uint8Array>> {
    this.#idleTimer.start();
    try {
      return await reader.read();
    } catch (cause) {
      throw this.#connection.signal.aborted
        ? this.#connection.signal.reason
        : this.#createNetworkError(`connection lost: ${describeLostConnection(cause)}`, cause);
    } finally {
      this.#idleTimer.stop();
    }
  }

  #fail(thrown: unknown): void {
    const error = AgentError.is(thrown) ? thrown : this.#createStreamError(thrown);
    this.#failed = true;
    this.#writer.fail(error, this.#usage);
  }

  /** Tokens used so far. A reply must end, so that counts which its reader cannot read are unknown. */
  get #usage(): Usage | undefined {
    try {
      return this.#reply?.replyReader.usage;
    } catch {
      return undefined;
    }
  }

  #abort(): void {
    const { reason } = this.#options.request.signal;
    this.#writer.abort(reason, this.#usage);
    this.#close();
    this.#disconnect(reason);
  }

  #timeOut(): void {
    const { idleTimeoutMs } = this.#options.settings;
    const error = this.#createNetworkError(`no data received for ${idleTimeoutMs} ms`);
    this.#fail(error);
    this.#close();
    this.#disconnect(error);
  }

  /** Closes the stream after the terminal event, and the connection once the body has been read. */
  #finish(): void {
    this.#close();
    if (this.#failed || this.#reader === null) return this.#disconnect();
    const { clock } = this.#options.settings;
    drain(this.#reader).finally(startTimer(clock, CLOSE_TIMEOUT_MS, () => this.#disconnect()));
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#state = "closed";
    this.#idleTimer.dispose();
    this.#options.request.signal.removeEventListener("abort", this.#onAbort);
    this.events.close();
  }

  #disconnect(reason?: unknown): void {
    this.#connection.abort(reason);
    this.#reader?.cancel(reason).catch(ignore);
  }

  /** Creates the error of a frame that is not JSON, or not of the form that the provider documents. */
  #createFrameError(cause: unknown, frame: Frame): StreamError {
    const text = typeof frame === "string" ? frame : JSON.stringify(frame);
    const quote = this.#quote(text, MAX_FRAME_LENGTH);
    // The message of a syntax error quotes the text, which may cut a secret in half.
    const isSecret = cause instanceof SyntaxError && this.#redact(text) !== text;
    const problem = cause instanceof TypeError
      ? "unexpected form"
      : isSecret
      ? "invalid JSON"
      : getErrorMessage(cause);
    return this.#createStreamError(
      isSecret ? undefined : cause,
      `${problem}, in the event ${quote}`,
    );
  }

  #createStreamError(cause: unknown, problem = getErrorMessage(cause)): StreamError {
    const { provider } = this.#options.request.model;
    const step = this.#reader === null ? "create the request to" : "read the reply of";
    return new StreamError(`Cannot ${step} ${provider}: ${problem}`, { provider, cause });
  }

  #createNetworkError(problem: string, cause?: unknown): NetworkError {
    const { provider } = this.#options.request.model;
    return new NetworkError(`${provider}: ${problem}`, { provider, cause });
  }

  /** Returns the start of a text without secrets. They are removed first, since a part of one would not be found. */
  #quote(text: string, maxLength: number): string {
    const quote = this.#redact(text.trim().slice(0, MAX_QUOTED_LENGTH));
    return quote.length > maxLength ? `${quote.slice(0, maxLength)}…` : quote;
  }
}

/** Counts the bytes of a response, which may have 128 MiB, for adapters that read it as a whole. */
export class ResponseSize {
  readonly #provider: string;
  #bytes = 0;

  /** Creates a counter for the response of a provider. */
  constructor(provider: string) {
    this.#provider = provider;
  }

  /**
   * Adds the next bytes.
   *
   * @throws {StreamError} If the response is too large.
   */
  add({ length }: Uint8Array): void {
    this.#bytes += length;
    if (this.#bytes <= MAX_RESPONSE_BYTES) return;
    const provider = this.#provider;
    const limit = MAX_RESPONSE_BYTES / 2 ** 20;
    const message = `Cannot read the reply of ${provider}: it is larger than ${limit} MiB`;
    throw new StreamError(message, { provider });
  }
}

/** Whether an event shows that the provider has accepted the request. */
function isAccepting({ type }: AssistantMessageEvent): boolean {
  return type !== "start" && type !== "warning" && type !== "error";
}

/** Reads the rest of the body, because only then the connection can be reused. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The reply is complete, so a lost connection does not matter.
  }
}

function ignore(): void {}
