/**
 * Stream functions of models that are no HTTP service.
 *
 * @module
 */

import { checkFunction } from "../checks/check_function.ts";
import { StreamError } from "../errors/errors.ts";
import { EventLoopPause } from "../ports/event_loop_pause.ts";
import { redact } from "../text/redact.ts";
import { BlockWriter } from "./block_writer.ts";
import { EventQueue } from "./event_queue.ts";
import { redactEvent } from "./redact_event.ts";
import { toReplyError } from "./reply_error.ts";
import type { AssistantMessageEvent, StreamFn, StreamRequest } from "./stream.ts";

/** The reply that a {@linkcode WriteReply} writes. */
export interface ReplyTarget {
  /** Writes the reply; `finish()` or `fail()` ends it. */
  readonly writer: BlockWriter;
  /**
   * Resolves when everything written so far has been read, or the reader has left. A model that may write faster than the
   * events are read waits for it. Timers fire and signals are aborted meanwhile, so that a model that never pauses can be
   * stopped.
   */
  readonly drained: () => Promise<void>;
}

/**
 * Writes the reply to a request. The signal of the request is aborted when the run is aborted or the stream is cancelled:
 * the reply has ended then, and what is written later is ignored.
 */
export type WriteReply = (request: StreamRequest, target: ReplyTarget) => Promise<void> | void;

/**
 * Creates a stream function from a function that writes a reply, such as that of a model in the same process or behind a
 * client library.
 *
 * `write` is called when the first event is read. An error that it throws ends the reply: an `AgentError`
 * unchanged, any other as the cause of a `stream_error`. So does its return without `writer.finish()`.
 *
 * @throws {BadRequestError} If `write` is not a function.
 *
 * @example
 * ```ts
 * import { Agent, extractText } from "@swink/agent";
 * import { streamFnFrom, zeroUsage } from "@swink/agent/adapters/kit";
 *
 * const streamFn = streamFnFrom(({ context: { messages } }, { writer }) => {
 *   for (const { content } of messages) writer.writeText(extractText(content).toUpperCase());
 *   writer.finish({ stopReason: "stop", usage: zeroUsage() });
 * });
 * const agent = new Agent({ model: "my/echo", streamFn });
 * console.log((await agent.prompt("Hello")).text); // "HELLO"
 * ```
 */
export function streamFnFrom(write: WriteReply): StreamFn {
  checkFunction("write", write);
  return (request) => new WrittenReply(request, write).events;
}

class WrittenReply {
  /** The events of the reply. */
  readonly events: EventQueue;
  readonly #request: StreamRequest;
  readonly #write: WriteReply;
  readonly #writer: BlockWriter;
  readonly #controller = new AbortController();
  readonly #loopPause = new EventLoopPause();
  readonly #hideKey = (text: string) => redact(text, [this.#request.options.apiKey ?? ""]);
  readonly #onAbort = () => this.#abort(this.#request.signal.reason);

  constructor(request: StreamRequest, write: WriteReply) {
    this.#request = request;
    this.#write = write;
    this.events = new EventQueue({
      onStart: () => this.#start(),
      onLeave: () => this.#abort("the stream was cancelled"),
    });
    this.#writer = new BlockWriter((event) => this.#send(event));
  }

  #start(): void {
    const { signal } = this.#request;
    this.#writer.start();
    if (signal.aborted) return this.#onAbort();
    signal.addEventListener("abort", this.#onAbort, { once: true });
    void this.#run();
  }

  /** Writes the whole reply. */
  async #run(): Promise<void> {
    const { provider, modelId } = this.#request.model;
    const request = { ...this.#request, signal: this.#controller.signal };
    try {
      await this.#write(request, { writer: this.#writer, drained: () => this.#drained() });
      if (this.#writer.ended) return;
      const message = `The model ${modelId} has not finished its reply: call writer.finish()`;
      this.#writer.fail(new StreamError(message, { provider, model: modelId }));
    } catch (thrown) {
      this.#writer.fail(toReplyError(thrown, request));
    }
  }

  async #drained(): Promise<void> {
    await this.events.drained();
    await this.#loopPause.wait();
  }

  #send(event: AssistantMessageEvent): void {
    this.events.push(redactEvent(event, this.#hideKey));
    if (event.type === "done" || event.type === "error") this.#close();
  }

  #abort(reason: unknown): void {
    if (this.#writer.ended) return;
    this.#writer.abort(reason);
    this.#controller.abort(reason);
  }

  #close(): void {
    this.#request.signal.removeEventListener("abort", this.#onAbort);
    this.events.close();
    this.#loopPause.end();
  }
}
