/**
 * A request as it is handed to `fetch`, in one shape.
 *
 * @module
 */

/** What `fetch` takes. */
export type FetchArguments = readonly [
  input: string | URL | Request,
  init?: RequestInit | undefined,
];

/** A request that is about to be sent. */
export interface OutgoingRequest {
  /** The method, in capitals. */
  readonly method: string;
  /** The address. */
  readonly url: string;
  /** The headers. */
  readonly headers: Headers;
  /** The body; empty for none. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Fires when the caller cancels. */
  readonly signal: AbortSignal;
  /** What to hand to `fetch` to send it. */
  readonly fetchArguments: FetchArguments;
}

/** Reads a request. A body that can be read only once is read, and replaced by what it held. */
export async function createOutgoingRequest(
  ...[input, init]: FetchArguments
): Promise<OutgoingRequest> {
  const isReadOnce = (input instanceof Request && input.body !== null) ||
    init?.body instanceof ReadableStream;
  const request = new Request(input, init);
  // The request's own signal only follows the caller's, and on some runtimes no longer than it is referenced.
  const signal = init?.signal ?? (input instanceof Request ? input.signal : request.signal);
  const { method, url, headers } = request;
  const body = new Uint8Array(await request.arrayBuffer());
  const sendable: FetchArguments = isReadOnce
    ? [new Request(url, { ...init, method, headers, body, signal })]
    : [input, init];
  return { method, url, headers, body, signal, fetchArguments: sendable };
}
