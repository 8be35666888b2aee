/**
 * Requests to a Restate server.
 *
 * @module
 */

import { BadRequestError, getErrorMessage, NetworkError } from "../../core/errors.ts";

/** Status of an output that does not exist yet. */
const NOT_READY = 470;
/** Time after which a wait for an output is repeated, in milliseconds. */
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

/** The output of a workflow. */
export type WorkflowOutput =
  | { readonly type: "ended"; readonly value: unknown }
  | { readonly type: "running" | "unknown" };

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
    if (!response.ok) throw await createRefusal(response);
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
    if (!response.ok) throw await createRefusal(response);
    return await parseBody(response);
  }

  /** Returns the output of a workflow, if it has ended. */
  async readOutput(service: string, key: string): Promise<WorkflowOutput> {
    const response = await this.#request(getWorkflowPath(service, key, "output"));
    if (response.ok) return { type: "ended", value: await parseBody(response) };
    if (response.status !== 404 && response.status !== NOT_READY) {
      throw await createRefusal(response);
    }
    await response.body?.cancel();
    return { type: response.status === NOT_READY ? "running" : "unknown" };
  }

  /** Waits for the output of a workflow. */
  async awaitOutput(service: string, key: string): Promise<unknown> {
    const { signal } = this.#options;
    while (true) {
      signal.throwIfAborted();
      try {
        const limit = AbortSignal.timeout(ATTACH_MS);
        const path = getWorkflowPath(service, key, "attach");
        const response = await this.#request(path, { signal: AbortSignal.any([signal, limit]) });
        if (response.ok) return await parseBody(response);
        if (response.status < 500) throw await createRefusal(response);
        await response.body?.cancel();
      } catch (error) {
        if (error instanceof BadRequestError) throw error;
        signal.throwIfAborted();
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #request(path: string, init: RequestInit = {}): Promise<Response> {
    const { ingressUrl, fetch, signal } = this.#options;
    const url = `${ingressUrl.replace(/\/$/, "")}/${path}`;
    const headers = { "content-type": "application/json" };
    try {
      return await fetch(url, { signal, headers, ...init });
    } catch (cause) {
      if (signal.aborted) throw new BadRequestError("The engine was closed");
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

async function createRefusal(response: Response): Promise<Error> {
  const message = `Restate answered with the status ${response.status}: ${await response.text()}`;
  return response.status < 500 ? new BadRequestError(message) : new NetworkError(message);
}
