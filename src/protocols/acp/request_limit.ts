/**
 * Limits the requests of a client that are open at the same time.
 *
 * @module
 */

import { isJsonObject } from "../../core/json.ts";

/** A stream of messages. */
export interface MessageStream {
  /** Messages from the other end. */
  readonly readable: ReadableStream<unknown>;
  /** Messages to the other end. */
  readonly writable: WritableStream<unknown>;
}

/** Number of open requests above which nothing is read from the client. */
const MAX_OPEN = 1_000;

/** Stops reading from a client that sends requests faster than it takes their answers. */
export class RequestLimit {
  #open = 0;
  #resume = (): void => {};

  /** Returns the input, which is read as long as few requests are open. */
  limit(input: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = input.getReader();
    return new ReadableStream({
      pull: async (controller) => {
        await this.#untilFew();
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    }, { highWaterMark: 0 });
  }

  /** Returns the stream with its requests and answers counted. */
  count({ readable, writable }: MessageStream): MessageStream {
    const writer = writable.getWriter();
    return {
      readable: readable.pipeThrough(
        new TransformStream({
          transform: (message, controller) => {
            if (isRequest(message)) this.#open++;
            controller.enqueue(message);
          },
        }),
      ),
      writable: new WritableStream({
        write: async (message) => {
          await writer.write(message);
          if (isAnswer(message)) this.#close();
        },
      }),
    };
  }

  async #untilFew(): Promise<void> {
    while (this.#open >= MAX_OPEN) {
      await new Promise<void>((resolve) => {
        this.#resume = resolve;
      });
    }
  }

  #close(): void {
    // The answer to an invalid line belongs to no request.
    this.#open = Math.max(0, this.#open - 1);
    this.#resume();
  }
}

function isRequest(message: unknown): boolean {
  return isJsonObject(message) && "method" in message && "id" in message;
}

function isAnswer(message: unknown): boolean {
  return isJsonObject(message) && !("method" in message) && message.id !== null;
}
