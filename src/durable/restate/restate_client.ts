/**
 * Requests to a Restate server.
 *
 * @module
 */

import { EngineClosedError } from "../../core/durable/engine_closed_error.ts";
import { BadRequestError, getErrorMessage, NetworkError } from "../../core/errors/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { parseJsonOrUndefined } from "../../core/json/parse_json.ts";
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

/** The answer to a request. */
interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
}

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
    const answer = await this.#request(`${path}/send${delay}`, init);
    if (!answer.ok) throw createRefusal(answer);
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
    const answer = await this.#request(path, init);
    if (!answer.ok) throw createRefusal(answer);
    return parseBody(answer);
  }

  /** Returns the output of a workflow, if it has ended. */
  async readOutput(service: string, key: string): Promise<WorkflowOutput> {
    const answer = await this.#request(getWorkflowPath(service, key, "output"));
    if (answer.ok) return { type: "ended", value: parseBody(answer) };
    const failure = parseFailure(answer);
    if (failure) return failure;
    if (answer.status === NOT_READY) return { type: "running" };
    if (answer.status === 404) return { type: "unknown" };
    throw createRefusal(answer);
  }

  /** Waits for the output of a workflow. */
  async awaitOutput(service: string, key: string): Promise<WorkflowEnd> {
    const { signal } = this.#options;
    while (true) {
      signal.throwIfAborted();
      try {
        const limit = AbortSignal.timeout(ATTACH_MS);
        const path = getWorkflowPath(service, key, "attach");
        const answer = await this.#request(path, { signal: AbortSignal.any([signal, limit]) });
        if (answer.ok) return { type: "ended", value: parseBody(answer) };
        const failure = parseFailure(answer);
        if (failure) return failure;
        if (answer.status < 500) throw createRefusal(answer);
      } catch (error) {
        if (error instanceof BadRequestError) throw error;
        signal.throwIfAborted();
      }
      await realSleep(RETRY_MS, signal);
    }
  }

  async #request(path: string, init: RequestInit = {}): Promise<Answer> {
    const { ingressUrl, fetch, signal } = this.#options;
    const url = `${ingressUrl.replace(/\/$/, "")}/${path}`;
    const headers = { "content-type": "application/json" };
    try {
      const response = await fetch(url, { signal, headers, ...init });
      const { ok, status } = response;
      // A connection may also end within the body.
      return { ok, status, text: await response.text() };
    } catch (cause) {
      if (signal.aborted) throw new EngineClosedError();
      throw new NetworkError(`Restate cannot be reached: ${getErrorMessage(cause)}`, { cause });
    }
  }
}

/**
 * Returns the id of a run as a part of a path.
 *
 * @throws {BadRequestError} If a URL cannot have it.
 */
export function encodeRunId(id: string): string {
  if (id !== "." && id !== "..") return encodeURIComponent(id);
  throw new BadRequestError(`A run on Restate cannot have the id "${id}": choose another one`);
}

function getWorkflowPath(service: string, id: string, action: "output" | "attach"): string {
  return `restate/workflow/${service}/${encodeRunId(id)}/${action}`;
}

function parseBody({ text }: Answer): unknown {
  return text === "" ? null : JSON.parse(text);
}

/** Parses the answer for a workflow that has failed; `undefined` if it is that for a request. */
function parseFailure({ text }: Answer): WorkflowEnd | undefined {
  const failure = parseJsonOrUndefined(text);
  if (!isJsonObject(failure) || failure["source"] !== "invocation") return undefined;
  const isCancelled = failure["code"] === CANCELLED;
  return { type: "failed", isCancelled, message: String(failure["message"]) };
}

function createRefusal({ status, text }: Answer): Error {
  const message = `Restate answered with the status ${status}: ${text}`;
  return status < 500 ? new BadRequestError(message) : new NetworkError(message);
}
