/**
 * HTTP requests to a provider.
 *
 * @module
 */

import { abortable } from "../../../src/core/abortable.ts";
import {
  AgentError,
  getErrorMessage,
  NetworkError,
  StreamError,
} from "../../../src/core/errors.ts";
import { redact } from "../../../src/core/redact.ts";
import { classifyResponse, classifyStreamError, type ErrorOrigin } from "../errors/classify.ts";
import type { ErrorTable } from "../errors/error_table.ts";
import type { AdapterSettings } from "../options/adapter_options.ts";
import { startTimer } from "../stream/timer.ts";

/** A request to a provider. */
export interface PostRequest {
  /** Provider name for error messages. */
  readonly provider: string;
  /** URL to post to. */
  readonly url: string;
  /** Headers of the adapter; headers of the settings override them. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON body. */
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Texts to redact from error messages, such as the key. */
  readonly secrets?: readonly string[] | undefined;
  /** Error codes and messages of the provider. */
  readonly errors?: ErrorTable | undefined;
}

/** Maximum time to read the body of an error response. */
const ERROR_BODY_TIMEOUT_MS = 10_000;

/**
 * Posts a request and resolves with the body of a successful response. Ends at once when `connection` aborts.
 *
 * @throws {AgentError} When the connection fails, the response does not start in time, its status is an error, or it is
 * not a stream.
 */
export async function post(
  request: PostRequest,
  settings: AdapterSettings,
  connection: AbortController,
): Promise<ReadableStream<Uint8Array> | null> {
  const { signal } = connection;
  signal.throwIfAborted();
  const { clock, connectTimeoutMs } = settings;
  const stopTimer = startTimer(clock, connectTimeoutMs, () => {
    connection.abort(createNetworkError(request, `no response within ${connectTimeoutMs} ms`));
  });
  let response: Response;
  try {
    const { url, body } = request;
    const headers = mergeHeaders(request.headers, settings.headers);
    const sent = settings.fetch(url, { method: "POST", headers, body, signal });
    // Closes a response that arrives after the abort.
    sent.then(({ body }) => signal.aborted ? body?.cancel() : undefined).catch(ignore);
    response = await abortable(sent, signal);
  } catch (cause) {
    if (AgentError.is(cause) || signal.aborted) throw cause;
    const reason = redact(getErrorMessage(cause), request.secrets);
    throw createNetworkError(request, `request failed: ${reason}`);
  } finally {
    stopTimer();
  }
  settings.limiter?.observe(response.headers);
  if (response.ok && isStream(response)) return response.body;
  throw await readError(response, { request, settings, signal });
}

function createNetworkError({ provider }: PostRequest, problem: string): NetworkError {
  return new NetworkError(`${provider}: ${problem}`, { provider });
}

function mergeHeaders(
  headersOfAdapter: Readonly<Record<string, string>>,
  overrides: Readonly<Record<string, string>>,
): Headers {
  const headers = new Headers(headersOfAdapter);
  for (const [name, value] of Object.entries(overrides)) headers.set(name, value);
  return headers;
}

/** Whether a response is a stream. Servers without streaming send one JSON value, captive portals a web page. */
function isStream({ headers }: Response): boolean {
  return !/^(?:application\/json|text\/html)\b/.test(headers.get("content-type") ?? "");
}

interface ErrorContext {
  readonly request: PostRequest;
  readonly settings: AdapterSettings;
  readonly signal: AbortSignal;
}

async function readError(
  response: Response,
  { request, settings, signal }: ErrorContext,
): Promise<AgentError> {
  const { status, headers, ok } = response;
  const { provider, errors: table, secrets } = request;
  const body = await readErrorText(response, settings, signal);
  const origin: ErrorOrigin = { provider, table, secrets, now: settings.clock.now() };
  if (!ok) return classifyResponse({ status, headers, body }, origin);
  const value = parseJson(body);
  if ((value?.error ?? null) !== null) return classifyStreamError(value, origin);
  const type = headers.get("content-type");
  const message = `${provider} answered with ${type} instead of a stream: check the baseUrl`;
  return new StreamError(message, { provider });
}

/** Reads a body as text, up to the limits of size and time. When reading fails, returns the text read so far. */
async function readErrorText(
  response: Response,
  { maxErrorBytes, idleTimeoutMs, clock }: AdapterSettings,
  signal: AbortSignal,
): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const stop = () => void reader.cancel().catch(ignore);
  const stopTimer = startTimer(clock, Math.min(idleTimeoutMs, ERROR_BODY_TIMEOUT_MS), stop);
  signal.addEventListener("abort", stop, { once: true });
  const decoder = new TextDecoder();
  let text = "";
  let remainingBytes = maxErrorBytes;
  try {
    while (remainingBytes > 0) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value.subarray(0, remainingBytes), { stream: true });
      remainingBytes -= value.length;
    }
  } catch {
    // The status is known, so the error is reported with the text read so far.
  } finally {
    stopTimer();
    signal.removeEventListener("abort", stop);
    stop();
  }
  return text;
}

function parseJson(text: string): { readonly error?: unknown } | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function ignore(): void {}
