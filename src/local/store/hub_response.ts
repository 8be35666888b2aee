/**
 * Requests to the hub: redirects, and the failures that a user can do something about.
 *
 * @module
 */

import {
  type AgentError,
  AuthError,
  createAgentError,
  getErrorMessage,
  ModelNotFoundError,
  NetworkError,
} from "../../core/errors/errors.ts";
import { redact } from "../../core/text/redact.ts";

/** A request of the content of a file. */
export interface HubRequest {
  readonly url: URL;
  /** Number of bytes that are present already. */
  readonly offset: number;
  /** Token of the hub, which only its own host gets. */
  readonly token: string | undefined;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** Properties of a file that the hub reports. */
interface ReportedFile {
  /** Size of the file, as the hub reports it. */
  readonly size: number | undefined;
  /** SHA-256 of the file, as the hub reports it. */
  readonly sha256: string | undefined;
}

/** A response with content. */
export interface HubContent extends ReportedFile {
  readonly type: "content";
  /** Offset of the first byte of the body in the file. */
  readonly offset: number;
  /** Offset of the end of the body in the file, if it is known before. */
  readonly end: number | undefined;
  readonly body: ReadableStream<Uint8Array> | null;
}

/** A response to a request. */
export type HubResponse =
  | HubContent
  /** The requested range begins at the end of the file or after it. */
  | (ReportedFile & { readonly type: "range_refused" });

const MAX_REDIRECTS = 8;
const SHA256 = /^(?:W\/)?"?([0-9a-f]{64})"?$/;

/**
 * Requests the content of a file. Redirects are followed here, because the first response has the size and the SHA-256,
 * and another host must not get the token.
 *
 * @throws {AgentError} If the hub does not answer, or refuses the file.
 */
export async function requestFile(request: HubRequest): Promise<HubResponse> {
  let { url } = request;
  let size: number | undefined;
  let sha256: string | undefined;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await send(url, request);
    const { headers } = response;
    if (url.origin === request.url.origin) {
      size ??= toCount(headers.get("x-linked-size"));
      sha256 ??= SHA256.exec(headers.get("x-linked-etag") ?? "")?.[1];
    }
    const location = headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null) {
      return await readResponse(response, { ...request, size, sha256 });
    }
    await response.body?.cancel();
    url = resolveRedirect(location, url);
  }
  throw new NetworkError(`${request.url.host} redirects without end`, { retryable: false });
}

async function send(url: URL, request: HubRequest): Promise<Response> {
  const { offset, token, fetch, signal } = request;
  const headers: Record<string, string> = { "accept-encoding": "identity" };
  if (offset > 0) headers.range = `bytes=${offset}-`;
  if (token && url.origin === request.url.origin) headers.authorization = `Bearer ${token}`;
  try {
    return await fetch(url, { headers, signal, redirect: "manual" });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    const reason = redact(getReason(cause), token ? [token] : []);
    throw new NetworkError(
      `Cannot reach ${url.host}: ${reason}. ${describeManualDownload(request.url)}`,
    );
  }
}

/** Most errors around the one with the reason. */
const MAX_CAUSES = 5;

/** Returns the reason of a failed request, without its URL, since that of a redirect may be signed. */
function getReason(error: unknown): string {
  let reason = error;
  for (let depth = 0; depth < MAX_CAUSES; depth++) {
    const { cause, errors }: { cause?: unknown; errors?: readonly unknown[] } = Object(reason);
    // Node tries all addresses of a host, and reports an error for each.
    const inner = cause ?? errors?.[0];
    if (!(inner instanceof Error)) break;
    reason = inner;
  }
  return getErrorMessage(reason).replace(/^error sending request for url \(\S*\): /, "");
}

/** Describes how a file can be downloaded in another way. */
export function describeManualDownload(url: URL): string {
  return `Without this connection, download ${url.origin}${url.pathname} in another way, and import the file with: ` +
    "swink models local import FILE";
}

interface ReceivedRequest extends HubRequest {
  readonly size: number | undefined;
  readonly sha256: string | undefined;
}

async function readResponse(
  response: Response,
  request: ReceivedRequest,
): Promise<HubResponse> {
  const { status, headers, body } = response;
  if (status === 416) {
    await body?.cancel();
    const total = /^bytes \*\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1];
    return { type: "range_refused", size: request.size ?? toCount(total), sha256: request.sha256 };
  }
  if (status !== 200 && status !== 206) {
    await body?.cancel();
    throw createStatusError(response, request);
  }
  if (/^text\/html\b/i.test(headers.get("content-type") ?? "")) {
    await body?.cancel();
    throw createPageError(request);
  }
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get("content-range") ?? "");
  const length = toCount(headers.get("content-length"));
  const offset = status === 206 ? Number(range?.[1] ?? request.offset) : 0;
  const end = length === undefined || headers.has("content-encoding") ? undefined : offset + length;
  const size = request.size ?? toCount(range?.[2]) ?? end;
  return { type: "content", offset, end, body, size, sha256: request.sha256 };
}

/** A proxy may answer with a page of its own, whose length need not be known. */
function createPageError({ url }: HubRequest): NetworkError {
  const problem = `${url.host} has sent a page (text/html) instead of the file`;
  const advice = "a proxy may have sent it, for instance to ask for a sign-in to the network";
  return new NetworkError(`${problem}; ${advice}`, { retryable: false });
}

function createStatusError(
  { status, headers }: Response,
  { url, token }: HubRequest,
): AgentError {
  const name = `${url.host}${url.pathname}`;
  if (status === 401 || status === 403) {
    // The hub answers so for names that do not exist, too.
    const advice = token
      ? "check the name and the token in HF_TOKEN, and accept the license of the model on the hub"
      : "check the name; if the model has a license to accept, do so on the hub, and set HF_TOKEN " +
        "to a token of your account";
    return new AuthError(`The hub refuses ${name} (HTTP ${status}): ${advice}`, { status });
  }
  if (status === 404 || status === 410) {
    return new ModelNotFoundError(`The hub has no ${name} (HTTP ${status})`, { status });
  }
  const isTransient = status === 408 || status === 429 || status >= 500;
  const code = status === 429 ? "model_throttled" : "network_error";
  const message = `The hub did not send ${name} (HTTP ${status})`;
  if (!isTransient) return createAgentError(code, message, { status, retryable: false });
  const seconds = readWait(headers.get("retry-after"));
  const advice = seconds === undefined ? "later" : `in ${seconds} s`;
  return createAgentError(code, `${message}; try again ${advice}`, {
    status,
    retryable: true,
    ...(seconds !== undefined && { retryAfterMs: seconds * 1_000 }),
  });
}

function readWait(seconds: string | null): number | undefined {
  return seconds !== null && /^\d{1,6}$/.test(seconds) ? Number(seconds) : undefined;
}

function resolveRedirect(location: string, from: URL): URL {
  const url = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  const isSafe = url?.protocol === "https:" ||
    (url?.protocol === "http:" && from.protocol === "http:");
  if (url && isSafe) return url;
  const message = `${from.host} redirects to an address that is not allowed`;
  throw new NetworkError(message, { retryable: false });
}

function toCount(value: string | null | undefined): number | undefined {
  if (value === null || value === undefined || !/^\d{1,15}$/.test(value)) return undefined;
  return Number(value);
}
