/**
 * Sends a request and gives the body of a good response.
 *
 * @module
 */

import {
  AgentError,
  getErrorMessage,
  NetworkError,
  StreamError,
} from "../../../src/core/errors.ts";
import { redact } from "../../../src/core/redact.ts";
import { abortable } from "../stream/abortable.ts";
import { classifyResponse, classifyStreamError, type ErrorOrigin } from "../errors/classify.ts";
import type { ErrorTable } from "../errors/error_table.ts";
import type { AdapterSettings } from "../options/adapter_options.ts";

/** A request to a provider. */
export interface PostRequest {
  /** Name of the provider, for messages. */
  readonly provider: string;
  /** Where it goes. */
  readonly url: string;
  /** The adapter's headers; those of the settings beat them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, JSON. */
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Texts that must not show up in a message: the key. */
  readonly secrets?: readonly string[] | undefined;
  /** The provider's own error codes. */
  readonly errors?: ErrorTable | undefined;
}

/** An error's body that does not come within this time is done without. */
const ERROR_BODY_TIMEOUT_MS = 10_000;

/**
 * Posts a request; the connection ends at once when `connection` aborts.
 *
 * @throws {AgentError} When there is no connection, when the head of the response does not come in time, or when the
 * provider refuses.
 */
export async function post(
  request: PostRequest,
  settings: AdapterSettings,
  connection: AbortController,
): Promise<ReadableStream<Uint8Array> | null> {
  const response = await send(request, settings, connection);
  const { status, headers, ok } = response;
  settings.limiter?.observe(headers);
  const contentType = headers.get("content-type") ?? "";
  // Servers that do not stream answer with one JSON value; portals on the way, with a web page.
  if (ok && !/^(?:application\/json|text\/html)\b/.test(contentType)) return response.body;
  const body = await readLimited(response, settings, connection.signal);
  const origin = createOrigin(request, settings);
  throw ok
    ? createNotStreamError(body, contentType, origin)
    : classifyResponse({ status, headers, body }, origin);
}

async function send(
  { provider, url, headers, body, secrets }: PostRequest,
  settings: AdapterSettings,
  connection: AbortController,
): Promise<Response> {
  const { signal } = connection;
  const { connectTimeoutMs } = settings;
  signal.throwIfAborted();
  const stopTimer = settings.clock.after(connectTimeoutMs, () => {
    const message = `${provider}: No response came within ${connectTimeoutMs} ms`;
    connection.abort(new NetworkError(message, { provider }));
  });
  try {
    const sent = settings.fetch(url, {
      method: "POST",
      headers: mergeHeaders(headers, settings.headers),
      body,
      signal,
    });
    sent.then((late) => signal.aborted ? late.body?.cancel() : undefined).catch(ignore);
    return await abortable(sent, signal);
  } catch (cause) {
    if (AgentError.is(cause) || signal.aborted) throw cause;
    const words = redact(getErrorMessage(cause), secrets);
    throw new NetworkError(`${provider}: The request could not be sent: ${words}`, { provider });
  } finally {
    stopTimer();
  }
}

function createNotStreamError(body: string, contentType: string, origin: ErrorOrigin): AgentError {
  const value = parseJson(body);
  if (hasError(value)) return classifyStreamError(value, origin);
  const { provider } = origin;
  return new StreamError(
    `${provider} answered with ${contentType} where a stream was expected: is the baseUrl right?`,
    { provider },
  );
}

function createOrigin(
  { provider, errors, secrets }: PostRequest,
  { clock }: AdapterSettings,
): ErrorOrigin {
  return { provider, table: errors, secrets, now: clock.now() };
}

function mergeHeaders(
  own: Readonly<Record<string, string>>,
  extra: Readonly<Record<string, string>>,
): Headers {
  const headers = new Headers(own);
  for (const [name, value] of Object.entries(extra)) headers.set(name, value);
  return headers;
}

/** Reads a body as text: so many bytes of it, for so long, and what has come if it breaks off. */
async function readLimited(
  response: Response,
  { maxErrorBytes, idleTimeoutMs, clock }: AdapterSettings,
  signal: AbortSignal,
): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const stop = () => void reader.cancel().catch(ignore);
  const stopTimer = clock.after(Math.min(idleTimeoutMs, ERROR_BODY_TIMEOUT_MS), stop);
  signal.addEventListener("abort", stop, { once: true });
  const decoder = new TextDecoder();
  let text = "";
  let left = maxErrorBytes;
  try {
    while (left > 0) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value.subarray(0, left), { stream: true });
      left -= value.length;
    }
  } catch {
    // The status is known; a body that breaks off says what it says.
  } finally {
    stopTimer();
    signal.removeEventListener("abort", stop);
    stop();
  }
  return text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hasError(value: unknown): boolean {
  return typeof value === "object" && value !== null && "error" in value && value.error !== null;
}

function ignore(): void {}
