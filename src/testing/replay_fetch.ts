/**
 * A `fetch` without a network.
 *
 * @module
 */

/** A response that a {@linkcode replayFetch} gives. */
export interface ReplayResponse {
  /** The HTTP status. Default: 200. */
  readonly status?: number;
  /** The headers. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body. Default: empty. */
  readonly body?: string | Uint8Array;
  /** What comes after the body: its end, a broken connection, or nothing at all. Default: `"close"`. */
  readonly ending?: "close" | "reset" | "hang";
}

/** What answers a request: a body, a response, an error to reject with, or a function of the request. */
export type ReplayFixture =
  | string
  | Uint8Array
  | ReplayResponse
  | Error
  | ((request: ReplayRequest) => ReplayResult | Promise<ReplayResult>);

/** What the function of a {@linkcode ReplayFixture} gives. */
export type ReplayResult = string | Uint8Array | ReplayResponse | Error;

/** A request that a {@linkcode replayFetch} got. */
export interface ReplayRequest {
  /** The address. */
  readonly url: string;
  /** The method, in capitals. */
  readonly method: string;
  /** The headers. */
  readonly headers: Headers;
  /** The body as text; empty for none. */
  readonly body: string;
  /** Fires when the caller cancels. */
  readonly signal: AbortSignal;
}

/** A `fetch` that answers from fixtures. */
export interface ReplayFetch {
  /** Answers a request. */
  (input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** The requests it got, in order. */
  readonly requests: readonly ReplayRequest[];
}

/** How a body arrives. */
export interface ReplayOptions {
  /** Most bytes in one chunk; 1 is the hardest test of a decoder. Default: the whole body at once. */
  readonly chunkBytes?: number;
}

/**
 * Makes a `fetch` that answers from a fixture, and remembers what it was asked.
 *
 * One fixture answers every request; of a list, each answers one, and a request beyond the last is rejected.
 * The request's signal rejects the call and breaks the body off, as with the real `fetch`.
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
  const requests: ReplayRequest[] = [];
  const replay = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = await readRequest(input, init);
    request.signal.throwIfAborted();
    requests.push(request);
    const found = isFixtureList(fixture) ? fixture[requests.length - 1] : fixture;
    if (found === undefined) {
      throw new TypeError(`No fixture is left for request ${requests.length}`);
    }
    const answer = typeof found === "function" ? await found(request) : found;
    if (answer instanceof Error) throw answer;
    return createResponse(
      isResponseBody(answer) ? { body: answer } : answer,
      request.signal,
      options,
    );
  };
  return Object.assign(replay, { requests });
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
  let sent = 0;
  let release = (): void => {};
  return new ReadableStream({
    start(controller): void {
      const breakOff = (): void => controller.error(signal.reason);
      signal.addEventListener("abort", breakOff, { once: true });
      release = (): void => signal.removeEventListener("abort", breakOff);
    },
    pull(controller): Promise<void> | void {
      if (sent < bytes.length) {
        const chunk = bytes.slice(sent, Math.min(bytes.length, sent + chunkBytes));
        sent += chunk.length;
        return controller.enqueue(chunk);
      }
      if (ending === "hang") return new Promise(() => {});
      release();
      if (ending === "close") return controller.close();
      controller.error(new TypeError("error reading a body from connection"));
    },
    cancel: () => release(),
  }, { highWaterMark: 0 });
}

function isFixtureList(
  fixture: ReplayFixture | readonly ReplayFixture[],
): fixture is readonly ReplayFixture[] {
  return Array.isArray(fixture);
}

function isResponseBody(
  answer: string | Uint8Array | ReplayResponse,
): answer is string | Uint8Array {
  return typeof answer === "string" || answer instanceof Uint8Array;
}
