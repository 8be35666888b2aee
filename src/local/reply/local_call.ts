/**
 * One model call on this device: from a request to the events of the reply.
 *
 * @module
 */

import { ReadableQueue } from "../../core/ports/readable_queue.ts";
import { BlockWriter } from "../../core/streams/block_writer.ts";
import { toReplyError } from "../../core/streams/reply_error.ts";
import type { AssistantMessageEvent, StreamRequest } from "../../core/streams/stream.ts";
import type { LoadedTextModel } from "./loaded_text_model.ts";
import { OpenReply } from "./open_reply.ts";

/** Lends a loaded model for the time of a call. */
export interface TextModelSource {
  /**
   * Loads the model if needed, and keeps it loaded until `use` has ended.
   *
   * @throws {AgentError} If it cannot be loaded.
   */
  use<Result>(
    signal: AbortSignal,
    use: (model: LoadedTextModel) => Promise<Result>,
  ): Promise<Result>;
}

/** Creates the event stream of a call. The model is loaded when the first event is read. */
export function streamLocalCall(
  request: StreamRequest,
  source: TextModelSource,
): ReadableStream<AssistantMessageEvent> {
  return new LocalCall(request, source).events.stream();
}

class LocalCall {
  readonly events: ReadableQueue<AssistantMessageEvent>;
  readonly #request: StreamRequest;
  readonly #source: TextModelSource;
  readonly #writer: BlockWriter;
  /** Aborted when the call has ended in any way. */
  readonly #end = new AbortController();
  readonly #onAbort = () => this.#abort();
  #reply: OpenReply | undefined;
  /** The latest step. */
  #step: Promise<void> | undefined;
  /** All further steps, if they do not wait for the reader. */
  #rest: Promise<void> | undefined;
  #isStarted = false;
  #isClosed = false;

  constructor(request: StreamRequest, source: TextModelSource) {
    this.#request = request;
    this.#source = source;
    this.events = new ReadableQueue({
      pull: () => this.#rest ?? (this.#step = this.#advance()),
      cancel: () => this.#close(),
      readAhead: true,
    });
    this.#writer = new BlockWriter((event) => this.#send(event));
  }

  /** Takes one step: starts the reply, loads the model and evaluates the prompt, or generates a token. */
  async #advance(): Promise<void> {
    if (!this.#isStarted) return this.#start();
    try {
      if (this.#reply) await this.#reply.advance();
      else await this.#open();
    } catch (thrown) {
      if (!this.#writer.ended && !this.#isClosed) {
        this.#writer.fail(toReplyError(thrown, this.#request), this.#reply?.usage);
      }
    }
    if (this.#writer.ended && !this.#isClosed) this.#close();
  }

  /**
   * Takes the further steps without waiting for the reader, since other requests would wait as long as one that reads
   * slowly, or no more. The size of the context limits what is not read.
   */
  async #advanceToEnd(): Promise<void> {
    await this.#step;
    while (!this.#isClosed) await this.#advance();
  }

  #start(): void {
    const { signal } = this.#request;
    this.#isStarted = true;
    this.#writer.start();
    if (signal.aborted) this.#abort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Opens the reply within a use of the model that lasts until the call has ended. */
  #open(): Promise<void> {
    const { signal } = this.#end;
    return new Promise((resolve, reject) => {
      const use = async (model: LoadedTextModel) => {
        this.#reply = await OpenReply.open(model, this.#request, {
          writer: this.#writer,
          signal,
          onWanted: () => void (this.#rest ??= this.#advanceToEnd()),
        });
        resolve();
        await untilAborted(signal);
        await this.#reply.release();
      };
      this.#source.use(signal, use).catch(reject);
    });
  }

  #send(event: AssistantMessageEvent): void {
    // A caller that has read the last event may unload the model, which then waits for the end of the use.
    if (event.type === "done" || event.type === "error") this.#endUse();
    this.events.push(event);
  }

  #abort(): void {
    this.#writer.abort(this.#request.signal.reason, this.#reply?.usage);
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#request.signal.removeEventListener("abort", this.#onAbort);
    this.#endUse();
    this.events.close();
  }

  #endUse(): void {
    this.#end.abort(this.#request.signal.reason);
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
