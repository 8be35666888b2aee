/**
 * A `fetch` that answers from fixtures.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import { BadRequestError } from "../core/errors/errors.ts";

/** A response of {@linkcode replayFetch}. */
export interface ReplayResponse {
  /** HTTP status. Default: 200. */
  readonly status?: number | undefined;
  /** Response headers. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Response body. Default: empty. */
  readonly body?: string | Uint8Array | undefined;
  /** Whether the body then closes, fails as a reset connection does, or stays open. Default: `"close"`. */
  readonly ending?: "close" | "reset" | "hang" | undefined;
}

/** Answer to a request: a body, a response, an error to reject with, or a function of the request. */
export type ReplayFixture =
  | string
  | Uint8Array
  | ReplayResponse
  | Error
  | ((request: ReplayRequest) => ReplayResult | Promise<ReplayResult>);

/** Return value of the function form of {@linkcode ReplayFixture}; an error rejects the request. */
export type ReplayResult = string | Uint8Array | ReplayResponse | Error;

/** A request to {@linkcode replayFetch}. */
export interface ReplayRequest {
  /** Absolute URL. */
  readonly url: string;
  /** HTTP method in upper case. */
  readonly method: string;
  /** All headers of the request. */
  readonly headers: Headers;
  /** The body as text; empty if there is none. */
  readonly body: string;
  /** Fires when the caller aborts the request. */
  readonly signal: AbortSignal;
}

/** A `fetch` that answers from fixtures and records requests. */
export interface ReplayFetch {
  /** Answers with the next fixture. */
  (input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** The requests so far, in order. */
  readonly requests: readonly ReplayRequest[];
}

/** Options for {@linkcode replayFetch}. */
export interface ReplayOptions {
  /** Maximum size of a chunk in bytes; 1 also splits characters. Default: the body is one chunk. */
  readonly chunkBytes?: number | undefined;
}

/**
 * Creates a `fetch` that answers from fixtures and records its requests.
 *
 * A single fixture answers every request. Each fixture of an array answers one; further requests reject with a
 * `TypeError`. The signal of a request aborts the request and its body, as with the real `fetch`. An invalid fixture
 * rejects its request with a `BadRequestError`.
 *
 * @throws {BadRequestError} If an option is unknown, or `chunkBytes` is less than 1.
 *
 * @example
 * ```ts
 * import { replayFetch } from "@swink/agent/testing";
 *
 * const fetch = replayFetch({ status: 429, headers: { "retry-after": "2" }, body: "slow down" });
 * const response = await fetch("https://api.example.com/v1/messages", { method: "POST" });
 * response.status; // 429
 * await response.text(); // "slow down"
 * fetch.requests.length; // 1
 * ```
 */
export function replayFetch(
  fixture: ReplayFixture | readonly ReplayFixture[],
  options: ReplayOptions = {},
): ReplayFetch {
  checkObject(options, "Pass options such as { chunkBytes: 1 }");
  checkNames(options, ["chunkBytes"], "replayFetch()");
  assertChunkBytes(options.chunkBytes);
  const requests: ReplayRequest[] = [];
  const replay = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = await readRequest(input, init);
    request.signal.throwIfAborted();
    requests.push(request);
    const next = isFixtureList(fixture) ? fixture[requests.length - 1] : fixture;
    if (next === undefined) {
      throw new TypeError(`Cannot answer request ${requests.length}: there is no fixture for it`);
    }
    const result = typeof next === "function" ? await next(request) : next;
    if (result instanceof Error) throw result;
    return createResponse(toReplayResponse(result), request.signal, options);
  };
  return Object.assign(replay, { requests });
}

function assertChunkBytes(chunkBytes: unknown): void {
  if (chunkBytes === undefined || (typeof chunkBytes === "number" && chunkBytes >= 1)) return;
  throw new BadRequestError(
    `chunkBytes must be a number of at least 1, not ${describeValue(chunkBytes)}`,
  );
}

function toReplayResponse(result: Exclude<ReplayResult, Error>): ReplayResponse {
  if (isBody(result)) return { body: result };
  checkObject(result, "A fixture must be a body, or a response such as { status: 429 }");
  checkNames(result, ["status", "headers", "body", "ending"], "the response");
  const { body, ending = "close" } = result;
  // Such as the stream of a `Response`, which could be read only once.
  if (body !== undefined && !isBody(body)) {
    throw new BadRequestError(
      `The body of a fixture must be a text or bytes, not ${describeValue(body)}`,
    );
  }
  if (!["close", "reset", "hang"].includes(ending)) {
    throw new BadRequestError(
      `ending must be "close", "reset" or "hang", not ${describeValue(ending)}`,
    );
  }
  return result;
}

function isBody(value: unknown): value is string | Uint8Array {
  return typeof value === "string" || value instanceof Uint8Array;
}

async function readRequest(
  input: string | URL | Request,
  init?: RequestInit,
): Promise<ReplayRequest> {
  const request = new Request(input, init);
  const { url, method, headers } = request;
  const signal = init?.signal ?? request.signal;
  return { url, method, headers, body: await request.text(), signal };
}

function createResponse(
  { status = 200, headers = {}, body = "", ending = "close" }: ReplayResponse,
  signal: AbortSignal,
  { chunkBytes = Infinity }: ReplayOptions,
): Response {
  signal.throwIfAborted();
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const hasNoBody = status === 204 || status === 205 || status === 304;
  const stream = hasNoBody ? null : createBody(bytes, { ending, signal, chunkBytes });
  return new Response(stream, { status, headers });
}

interface BodyOptions {
  readonly ending: NonNullable<ReplayResponse["ending"]>;
  readonly signal: AbortSignal;
  readonly chunkBytes: number;
}

function createBody(
  bytes: Uint8Array,
  { ending, signal, chunkBytes }: BodyOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let offset = 0;
  let removeListener = (): void => {};
  return new ReadableStream({
    start(controller): void {
      const onAbort = (): void => controller.error(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      removeListener = (): void => signal.removeEventListener("abort", onAbort);
    },
    pull(controller): Promise<void> | void {
      if (offset < bytes.length) {
        const chunk = bytes.slice(offset, Math.min(bytes.length, offset + chunkBytes));
        offset += chunk.length;
        return controller.enqueue(chunk);
      }
      if (ending === "hang") return new Promise(() => {});
      removeListener();
      if (ending === "close") return controller.close();
      controller.error(new TypeError("error reading a body from connection"));
    },
    cancel: () => removeListener(),
  }, { highWaterMark: 0 });
}

function isFixtureList(
  fixture: ReplayFixture | readonly ReplayFixture[],
): fixture is readonly ReplayFixture[] {
  return Array.isArray(fixture);
}
