/**
 * The HTTP requests of a run in its log: URL, status, sizes and times, without bodies.
 *
 * @module
 */

import { getErrorMessage } from "../../src/core/errors/errors.ts";
import type { DebugLog } from "./debug_log.ts";

/** Headers of responses that are logged; their values identify the request and the time of a retry. */
const LOGGED_HEADERS =
  /^(?:content-type|retry-after|server|via|cf-ray|x-should-retry|(?:x-)?(?:amzn-)?request-?id|.*ratelimit.*)$/;

/** Matches names of request headers that carry a key. */
const SECRET_HEADER = /auth|key|token|secret|cookie/i;

/** Returns a function like `fetch` whose requests are logged. */
export function logRequests(send: typeof fetch, log: DebugLog): typeof fetch {
  let count = 0;
  return async (input, init) => {
    const id = ++count;
    const { method, url, headers } = describeRequest(input, init);
    addSecrets(headers, log);
    const bytes = typeof init?.body === "string" ? init.body.length : undefined;
    log.write({ type: "request", id, method, url: withoutQuery(url), bytes });
    try {
      const response = await send(input, init);
      const logged = [...response.headers].filter(([name]) => LOGGED_HEADERS.test(name));
      log.write({
        type: "response",
        id,
        status: response.status,
        headers: Object.fromEntries(logged),
      });
      return logBody(response, { id, log });
    } catch (error) {
      log.write({ type: "request_failed", id, error: getErrorMessage(error) });
      throw error;
    }
  };
}

/** Reads a request without its body, which only `fetch` may read. */
function describeRequest(
  input: RequestInfo | URL,
  init: RequestInit = {},
): Pick<Request, "method" | "url" | "headers"> {
  const request = input instanceof Request ? input : undefined;
  return {
    method: init.method ?? request?.method ?? "GET",
    url: request?.url ?? String(input),
    headers: new Headers(init.headers ?? request?.headers),
  };
}

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

function addSecrets(headers: Headers, log: DebugLog): void {
  for (const [name, value] of headers) {
    if (SECRET_HEADER.test(name)) log.addSecret(value.replace(/^\S+\s+/, ""));
  }
}

/** Logs the end of a body, and its size. */
function logBody(
  response: Response,
  { id, log }: { readonly id: number; readonly log: DebugLog },
): Response {
  if (!response.body) return response;
  let bytes = 0;
  const count = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      bytes += chunk.length;
      controller.enqueue(chunk);
    },
    flush: () => log.write({ type: "response_end", id, bytes, isComplete: true }),
    // An adapter stops to read after the last event, too.
    cancel: () => log.write({ type: "response_end", id, bytes, isComplete: false }),
  });
  const counted = new Response(response.body.pipeThrough(count), response);
  return Object.defineProperty(counted, "url", { value: response.url });
}
