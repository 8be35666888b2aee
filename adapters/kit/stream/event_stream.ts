/**
 * From a response to the events of a reply: begins with `start`, ends with exactly one `done` or `error`, whatever
 * happens in between.
 *
 * @module
 */

import { BlockWriter } from "../../../src/core/block_writer.ts";
import {
  AgentError,
  getErrorMessage,
  NetworkError,
  StreamError,
} from "../../../src/core/errors.ts";
import { ReadableQueue } from "../../../src/core/readable_queue.ts";
import type { AssistantMessageEvent, StreamRequest } from "../../../src/core/stream.ts";
import type { Usage } from "../../../src/core/usage.ts";
import { IdleTimer } from "./idle_timer.ts";
import type { AdapterSettings } from "../options/adapter_options.ts";

/** Cuts the bytes of a response into frames: server-sent events, lines, binary messages. */
export interface FrameParser<Frame> {
  /** Reads the frames that the next bytes complete. */
  feed(bytes: Uint8Array, onFrame: (frame: Frame) => void): void;
  /** Reads what the end of the body completes. */
  end(onFrame: (frame: Frame) => void): void;
}

/** Reads frames into a reply. */
export interface ReplyReader<Frame> {
  /** Reads one frame. Whatever it throws ends the reply; what is no `AgentError` becomes a `stream_error`. */
  read(frame: Frame): void;
  /** The body is over. A reply that is still open afterwards has been cut off. */
  end?(): void;
  /** Tokens as far as they are known; told when the reply fails. */
  readonly usage?: Usage | undefined;
}

/** One call to a provider. */
export interface Exchange<Frame> {
  /**
   * Sends the request and resolves with the body of a good response. Aborting the connection must end it at once.
   *
   * @throws {AgentError} For everything else.
   */
  open(connection: AbortController): Promise<ReadableStream<Uint8Array> | null>;
  /** Cuts the body into frames. */
  readonly parser: FrameParser<Frame>;
  /** Reads the frames. */
  readonly replyReader: ReplyReader<Frame>;
}

/** One request and how it is answered. */
export interface EventStreamOptions<Frame> {
  /** What is asked. */
  readonly request: StreamRequest;
  /** The adapter's settings. */
  readonly settings: Pick<AdapterSettings, "clock" | "idleTimeoutMs">;
  /** Prepares the call; the reply is written with `writer`. */
  readonly createExchange: (writer: BlockWriter) => Exchange<Frame>;
  /** Called when the reply has ended, with its tokens as far as they are known. */
  readonly onEnd?: (usage: Usage | undefined) => void;
}

/** A body may come as one huge chunk; the events of this much are made ahead of the reader, no more. */
const MAX_SLICE_BYTES = 32 * 1024;

/** How long a finished response may take to close, so that its connection can be used again. */
const CLOSE_TIMEOUT_MS = 50;

/**
 * Makes the event stream of one call.
 *
 * Nothing is sent before the first event is asked for, and the body is read only as fast as the events are: a slow
 * reader slows the provider down. Abort and cancel close the connection at once, whatever it is doing.
 */
export function toEventStream<Frame>(
  options: EventStreamOptions<Frame>,
): ReadableStream<AssistantMessageEvent> {
  return new Call(options).events.stream();
}

class Call<Frame> {
  readonly #request: StreamRequest;
  readonly #createExchange: (writer: BlockWriter) => Exchange<Frame>;
  readonly #settings: EventStreamOptions<Frame>["settings"];
  /** What has been read and not yet taken. */
  readonly events: ReadableQueue<AssistantMessageEvent>;
  readonly #writer: BlockWriter;
  readonly #idleTimer: IdleTimer;
  readonly #connection = new AbortController();
  readonly #onAbort = () => this.#abort();
  readonly #onFrame = (frame: Frame) => this.#exchange?.replyReader.read(frame);
  #exchange: Exchange<Frame> | null = null;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #chunk: Uint8Array = new Uint8Array(0);
  #started = false;
  #failed = false;
  #closed = false;

  constructor({ request, settings, createExchange: begin, onEnd }: EventStreamOptions<Frame>) {
    this.#request = request;
    this.#createExchange = begin;
    this.#settings = settings;
    this.events = new ReadableQueue<AssistantMessageEvent>({
      pull: () => this.#advance(),
      cancel: (reason) => this.#cancel(reason),
      readAhead: true,
    });
    this.#writer = new BlockWriter((event) => {
      this.events.push(event);
      if (event.type === "done" || event.type === "error") onEnd?.(event.usage);
    });
    const { clock, idleTimeoutMs: limitMs } = settings;
    this.#idleTimer = new IdleTimer({ clock, limitMs, onIdle: () => this.#timeOut() });
  }

  #cancel(reason: unknown): void {
    this.#close();
    this.#disconnect(reason);
  }

  #start(): void {
    const { signal } = this.#request;
    this.#started = true;
    this.#writer.start();
    if (signal.aborted) this.#abort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Goes one step on: begins, opens the connection, or reads a piece of the body. */
  async #advance(): Promise<void> {
    if (!this.#started) return this.#start();
    try {
      if (this.#reader === null) await this.#open();
      else await this.#read(this.#reader);
    } catch (thrown) {
      if (!this.#writer.ended && !this.#closed) this.#fail(thrown);
    }
    if (this.#writer.ended && !this.#closed) this.#finish();
  }

  async #open(): Promise<void> {
    this.#exchange ??= this.#createExchange(this.#writer);
    const body = await this.#exchange.open(this.#connection);
    if (this.#closed) return void body?.cancel().catch(ignore);
    this.#reader = (body ?? createEmptyBody()).getReader();
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const piece = await this.#nextSlice(reader);
    if (this.#exchange === null || this.#closed) return;
    if (piece !== null) this.#exchange.parser.feed(piece, this.#onFrame);
    else this.#readEnd(this.#exchange);
  }

  #readEnd({ parser, replyReader: reply }: Exchange<Frame>): void {
    try {
      parser.end(this.#onFrame);
    } catch (thrown) {
      // A last frame that makes no sense is one that was cut in the middle.
      if (AgentError.is(thrown)) throw thrown;
    }
    reply.end?.();
    if (!this.#writer.ended) throw this.#createTruncatedError();
  }

  async #nextSlice(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
    while (this.#chunk.length === 0) {
      const { done, value } = await this.#nextChunk(reader);
      if (done) return null;
      this.#chunk = value;
    }
    const piece = this.#chunk.subarray(0, MAX_SLICE_BYTES);
    this.#chunk = this.#chunk.subarray(MAX_SLICE_BYTES);
    return piece;
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
        : this.#createNetworkError(`The connection broke: ${getErrorMessage(cause)}`, cause);
    } finally {
      this.#idleTimer.stop();
    }
  }

  #fail(thrown: unknown): void {
    const { provider } = this.#request.model;
    const error = AgentError.is(thrown)
      ? thrown
      : new StreamError(`Cannot read the reply of ${provider}: ${getErrorMessage(thrown)}`, {
        provider,
        cause: thrown,
      });
    this.#failed = true;
    this.#writer.fail(error, this.#exchange?.replyReader.usage);
  }

  #abort(): void {
    const { reason } = this.#request.signal;
    this.#writer.abort(reason, this.#exchange?.replyReader.usage);
    this.#close();
    this.#disconnect(reason);
  }

  #timeOut(): void {
    const { idleTimeoutMs } = this.#settings;
    const error = this.#createNetworkError(`The stream fell silent for ${idleTimeoutMs} ms`);
    this.#fail(error);
    this.#close();
    this.#disconnect(error);
  }

  /** The terminal event is written. */
  #finish(): void {
    this.#close();
    if (this.#failed || this.#reader === null) return this.#disconnect();
    drain(this.#reader).finally(
      this.#settings.clock.after(CLOSE_TIMEOUT_MS, () => this.#disconnect()),
    );
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#idleTimer.dispose();
    this.#request.signal.removeEventListener("abort", this.#onAbort);
    this.events.close();
  }

  #disconnect(reason?: unknown): void {
    this.#connection.abort(reason);
    this.#reader?.cancel(reason).catch(ignore);
  }

  #createTruncatedError(): NetworkError {
    return this.#createNetworkError("The stream ended unexpectedly, before the reply was complete");
  }

  #createNetworkError(message: string, cause?: unknown): NetworkError {
    const { provider } = this.#request.model;
    return new NetworkError(`${provider}: ${message}`, { provider, cause });
  }
}

/** Reads to the end of the body, as only then the connection can be used for the next request. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The reply is complete, whatever becomes of the connection.
  }
}

function createEmptyBody(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() });
}

function ignore(): void {}
