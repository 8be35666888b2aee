/**
 * Requests to a Restate server.
 *
 * @module
 */

import { EngineClosedError } from "../../core/durable/engine_closed_error.ts";
import { BadRequestError, getErrorMessage, NetworkError } from "../../core/errors/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { realSleep } from "../../core/ports/ports.ts";

/** Status of an output that does not exist yet. */
const NOT_READY = 470;
/** Time after which a wait for an output is repeated, and the pause before that, in milliseconds. */
const ATTACH_MS = 60_000;
const RETRY_MS = 500;

/** Options for {@linkcode RestateClient}. */
export interface RestateClientOptions {
  /** URL of the ingress. */
  readonly ingressUrl: string;
  /** Sends requests. */
  readonly fetch: typeof fetch;
  /** Ends all requests. */
  readonly signal: AbortSignal;
}

/** Code of the failure of a workflow that was cancelled or killed. */
const CANCELLED = 409;

/** The end of a workflow. `failed`: by Restate, since the workflow itself returns its errors. */
export type WorkflowEnd =
  | { readonly type: "ended"; readonly value: unknown }
  | { readonly type: "failed"; readonly isCancelled: boolean; readonly message: string };

/** The output of a workflow. */
export type WorkflowOutput = WorkflowEnd | { readonly type: "running" | "unknown" };

/** Calls handlers, and reads the outputs of workflows. */
export class RestateClient {
  readonly #options: RestateClientOptions;

  constructor(options: RestateClientOptions) {
    this.#options = options;
  }

  /** Sends an input to a handler, which is called later. A workflow that was started already is not started again. */
  async send(
    path: string,
    input: unknown,
    { delayMs }: { readonly delayMs?: number } = {},
  ): Promise<void> {
    const init = { method: "POST", body: JSON.stringify(input) };
    const delay = delayMs === undefined ? "" : `?delay=${Math.round(delayMs)}ms`;
    const response = await this.#request(`${path}/send${delay}`, init);
    if (!response.ok) throw createRefusal(response, await response.text());
    await response.body?.cancel();
  }

  /**
   * Calls a handler and returns its result. A call with the same idempotency key is executed once.
   */
  async call(
    path: string,
    input: unknown,
    { idempotencyKey }: { readonly idempotencyKey?: string } = {},
  ): Promise<unknown> {
    const headers = {
      "content-type": "application/json",
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    };
    const init = { method: "POST", headers, body: JSON.stringify(input) };
    const response = await this.#request(path, init);
    if (!response.ok) throw createRefusal(response, await response.text());
    return await parseBody(response);
  }

  /** Returns the output of a workflow, if it has ended. */
  async readOutput(service: string, key: string): Promise<WorkflowOutput> {
    const response = await this.#request(getWorkflowPath(service, key, "output"));
    if (response.ok) return { type: "ended", value: await parseBody(response) };
    const text = await response.text();
    const failure = parseFailure(text);
    if (failure) return failure;
    if (response.status === NOT_READY) return { type: "running" };
    if (response.status === 404) return { type: "unknown" };
    throw createRefusal(response, text);
  }

  /** Waits for the output of a workflow. */
  async awaitOutput(service: string, key: string): Promise<WorkflowEnd> {
    const { signal } = this.#options;
    while (true) {
      signal.throwIfAborted();
      try {
        const limit = AbortSignal.timeout(ATTACH_MS);
        const path = getWorkflowPath(service, key, "attach");
        const response = await this.#request(path, { signal: AbortSignal.any([signal, limit]) });
        if (response.ok) return { type: "ended", value: await parseBody(response) };
        const text = await response.text();
        const failure = parseFailure(text);
        if (failure) return failure;
        if (response.status < 500) throw createRefusal(response, text);
      } catch (error) {
        if (error instanceof BadRequestError) throw error;
        signal.throwIfAborted();
      }
      await realSleep(RETRY_MS, signal);
    }
  }

  async #request(path: string, init: RequestInit = {}): Promise<Response> {
    const { ingressUrl, fetch, signal } = this.#options;
    const url = `${ingressUrl.replace(/\/$/, "")}/${path}`;
    const headers = { "content-type": "application/json" };
    try {
      return await fetch(url, { signal, headers, ...init });
    } catch (cause) {
      if (signal.aborted) throw new EngineClosedError();
      throw new NetworkError(`Restate cannot be reached: ${getErrorMessage(cause)}`, { cause });
    }
  }
}

function getWorkflowPath(service: string, key: string, action: "output" | "attach"): string {
  return `restate/workflow/${service}/${encodeURIComponent(key)}/${action}`;
}

async function parseBody(response: Response): Promise<unknown> {
  const text = await response.text();
  return text === "" ? null : JSON.parse(text);
}

/** Parses the answer for a workflow that has failed; `undefined` if it is that for a request. */
function parseFailure(text: string): WorkflowEnd | undefined {
  const answer = parseJson(text);
  if (!isJsonObject(answer) || answer["source"] !== "invocation") return undefined;
  const isCancelled = answer["code"] === CANCELLED;
  return { type: "failed", isCancelled, message: String(answer["message"]) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function createRefusal(response: Response, text: string): Error {
  const message = `Restate answered with the status ${response.status}: ${text}`;
  return response.status < 500 ? new BadRequestError(message) : new NetworkError(message);
}
