/**
 * Protects a connection from a client that floods it.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { realSleep } from "../../core/ports/ports.ts";

/** A stream of messages. */
export interface MessageStream {
  /** Messages from the other end. */
  readonly readable: ReadableStream<unknown>;
  /** Messages to the other end. */
  readonly writable: WritableStream<unknown>;
}

/** Number of open requests above which nothing is read from the client. */
const MAX_OPEN = 1_000;

/**
 * Stops reading from a client that sends requests faster than it takes their answers, and drops answers to requests that
 * nothing waits for, such as a second one, and invalid cancellations. A cancellation is handled before what follows it.
 */
export class ConnectionGuard {
  #open = 0;
  /** Ids of the requests to the client without an answer. */
  readonly #asked = new Set<unknown>();
  #problem: BadRequestError | undefined;
  #resume = (): void => {};
  #end = (): void => {};
  readonly #ended = new AbortController();

  /** Returns the input, which is read as long as few requests are open. */
  limit(input: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = input.getReader();
    this.#end = () => void reader.cancel().catch(() => {});
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

  /** Why the connection has ended, if the client did not close it. */
  get problem(): BadRequestError | undefined {
    return this.#problem;
  }

  /** Ends the connection as if the client had closed it. */
  end(): void {
    this.#ended.abort();
    this.#open = 0;
    this.#resume();
    this.#end();
  }

  /** Returns the stream with its requests and answers checked. */
  check({ readable, writable }: MessageStream): MessageStream {
    const writer = writable.getWriter();
    const checked = new TransformStream<unknown, unknown>({
      transform: async (message, controller) => {
        if (isAnswer(message) && !this.#asked.delete(message["id"])) return;
        if (isInvalidCancel(message)) return;
        if (expectsAnswer(message)) this.#open++;
        controller.enqueue(message);
        // The package may take longer to find the handler of a cancellation than that of a prompt behind it.
        if (isCancel(message)) await realSleep(0, this.#ended.signal);
      },
    });
    readable.pipeTo(checked.writable).catch((reason) => {
      if (isTooLarge(reason)) this.#problem = new BadRequestError(TOO_LARGE, { cause: reason });
    });
    return {
      readable: checked.readable,
      writable: new WritableStream({
        write: async (message) => {
          if (isRequest(message)) this.#asked.add(message["id"]);
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
    this.#open = Math.max(0, this.#open - 1);
    this.#resume();
  }
}

const TOO_LARGE = "The client has sent a message of more than 32 MB, which ends the connection";

/** Whether the package has refused a message for its size. */
function isTooLarge(reason: unknown): boolean {
  return reason instanceof Error && reason.name === "MessageTooLargeError";
}

function isRequest(message: unknown): message is JsonObject {
  return isJsonObject(message) && "method" in message && "id" in message;
}

/** Whether a message is an answer, or an attempt at one: answers to it would never end. */
function isAnswer(message: unknown): message is JsonObject {
  if (!isJsonObject(message) || "method" in message) return false;
  return "id" in message || "result" in message || "error" in message;
}

/** Whether a message cancels no session. A notification has no answer, and the package would log each. */
function isInvalidCancel(message: unknown): boolean {
  if (!isCancel(message)) return false;
  const { params } = message;
  return !isJsonObject(params) || typeof params["sessionId"] !== "string";
}

function isCancel(message: unknown): message is JsonObject {
  return isJsonObject(message) && message["method"] === "session/cancel" && !("id" in message);
}

/** Whether a message gets an answer: a request, also one with the id `null`, and whatever is no valid message. */
function expectsAnswer(message: unknown): boolean {
  return !isAnswer(message) && !isNotification(message);
}

function isNotification(message: unknown): boolean {
  if (!isJsonObject(message) || "id" in message) return false;
  return message["jsonrpc"] === "2.0" && typeof message["method"] === "string";
}
