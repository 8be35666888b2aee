/**
 * A request to `fetch` with its body read.
 *
 * @module
 */

/** The arguments of `fetch`. */
export type FetchArguments = readonly [
  input: string | URL | Request,
  init?: RequestInit | undefined,
];

/** A request that has not been sent yet. */
export interface OutgoingRequest {
  /** HTTP method in upper case. */
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** Empty if the request has no body. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The caller's signal. */
  readonly signal: AbortSignal;
  /** The arguments with which to send the request. */
  readonly fetchArguments: FetchArguments;
}

/** Reads a request. A body that can be read only once is replaced by its bytes. */
export async function createOutgoingRequest(
  ...[input, init]: FetchArguments
): Promise<OutgoingRequest> {
  const isReadOnce = (input instanceof Request && input.body !== null) ||
    init?.body instanceof ReadableStream;
  const request = new Request(input, init);
  // On some runtimes the signal of a request follows the caller's only while the request is referenced.
  const signal = init?.signal ?? (input instanceof Request ? input.signal : request.signal);
  const { method, url, headers } = request;
  const body = new Uint8Array(await request.arrayBuffer());
  const fetchArguments: FetchArguments = isReadOnce
    ? [new Request(url, { ...init, method, headers, body, signal })]
    : [input, init];
  return { method, url, headers, body, signal, fetchArguments };
}
