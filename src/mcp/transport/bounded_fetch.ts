/**
 * A `fetch` whose responses are limited, for servers that are not trusted.
 *
 * @module
 */

import type { Clock } from "../../core/ports/ports.ts";
import { MessageRate } from "./message_rate.ts";

/** Options for {@linkcode createBoundedFetch}. */
export interface BoundedFetchOptions {
  readonly fetch: typeof fetch;
  /** Maximum number of bytes of a response, or of an event of an event stream. */
  readonly maxMessageBytes: number;
  readonly clock: Clock;
  /** Ends waiting. */
  readonly signal: AbortSignal;
  /** Called with the body of a request whose response is no event stream. */
  readonly onResponse: (request: string) => void;
}

/** Creates a `fetch` whose responses error when they are too large, and whose events are limited in their rate. */
export function createBoundedFetch(options: BoundedFetchOptions): typeof fetch {
  const rate = new MessageRate(options.clock);
  return async (input, init) => {
    const response = await options.fetch(input, init);
    const isEventStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    if (response.ok && !isEventStream && typeof init?.body === "string") {
      options.onResponse(init.body);
    }
    if (!response.body) return response;
    const limit = isEventStream
      ? createEventLimit(options, rate)
      : createSizeLimit(options.maxMessageBytes);
    const { status, statusText, headers } = response;
    // In Deno 2.9, aborting a request ends its body no more once its response has been collected as garbage.
    const body = response.body.pipeThrough(limit, init?.signal ? { signal: init.signal } : {});
    const bounded = new Response(body, { status, statusText, headers });
    return Object.defineProperty(bounded, "url", { value: response.url });
  };
}

type ByteLimit = TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>;

function createSizeLimit(maxBytes: number): ByteLimit {
  let length = 0;
  return new TransformStream({
    transform(chunk, controller) {
      length += chunk.length;
      if (length > maxBytes) throw createSizeError(maxBytes);
      controller.enqueue(chunk);
    },
  });
}

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/** An event ends with an empty line. */
function createEventLimit(options: BoundedFetchOptions, rate: MessageRate): ByteLimit {
  const { maxMessageBytes, signal } = options;
  let eventLength = 0;
  let lineLength = 0;
  return new TransformStream({
    async transform(chunk, controller) {
      for (const byte of chunk) {
        eventLength++;
        if (byte === CARRIAGE_RETURN) continue;
        if (byte !== NEWLINE) lineLength++;
        else if (lineLength > 0) lineLength = 0;
        else {
          if (eventLength > 2) await rate.count(eventLength, signal);
          eventLength = 0;
        }
      }
      if (eventLength > maxMessageBytes) throw createSizeError(maxMessageBytes);
      controller.enqueue(chunk);
    },
  });
}

function createSizeError(maxBytes: number): RangeError {
  return new RangeError(`The server sent a message of more than ${maxBytes} bytes`);
}
