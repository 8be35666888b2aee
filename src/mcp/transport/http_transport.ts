/**
 * The transport to a server over HTTP: that of the client, with the messages of the server repaired.
 *
 * @module
 */

import type {
  ClientTransport,
  HttpClientTransport,
  ProtocolMessage,
  SendOptions,
} from "../protocol/client_package.ts";
import {
  createErrorResponse,
  repairMessage,
  type ReportProblem,
} from "../protocol/repair_message.ts";

type RequestId = string | number;

/** Maximum number of answers that the server has not accepted; its further requests are ignored. */
const MAX_ANSWERS = 100;

/** Options for {@linkcode HttpTransport}. */
export interface HttpTransportOptions {
  /** Called with problems of messages. */
  readonly report: ReportProblem;
  /** Aborted when the connection is closed. */
  readonly closing: AbortController;
}

/** A connection to a server over HTTP. */
export class HttpTransport implements ClientTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: ProtocolMessage) => void;
  readonly hasPerRequestStream = true;
  readonly #inner: HttpClientTransport;
  readonly #options: HttpTransportOptions;
  /** Close the responses to the requests that wait for an answer. */
  readonly #requests = new Map<RequestId, AbortController>();
  /** The requests whose complete response has arrived. */
  readonly #complete = new Set<RequestId>();
  /** Number of answers to requests of the server that it has not accepted yet. */
  #answers = 0;

  /** Wraps the transport of the client. */
  constructor(inner: HttpClientTransport, options: HttpTransportOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  /** Id of the session, if the server assigns one. */
  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  /** Sets the version of the protocol that was negotiated. */
  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  /** Opens the connection. */
  start(): Promise<void> {
    const inner = this.#inner;
    inner.onclose = () => this.onclose?.();
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (value) => this.#receive(value);
    return inner.start();
  }

  /**
   * Sends a message. A request whose response ends without an answer gets an error response; the response to one that is
   * cancelled is closed.
   */
  async send(message: ProtocolMessage, options: SendOptions = {}): Promise<void> {
    const { id, method, params } = message;
    if (id !== undefined && method !== undefined) {
      return await this.#sendRequest(message, id, options);
    }
    if (method === undefined) return await this.#sendAnswer(message, options);
    await this.#inner.send(message, options);
    if (method === "notifications/cancelled") this.#closeRequest(params?.["requestId"]);
  }

  /** Notes that a request got a response that is no event stream: all of its messages are in it. */
  noteResponse(body: string): void {
    const id = readRequestId(body);
    if (id !== undefined && this.#requests.has(id)) this.#complete.add(id);
  }

  /** Closes the connection. */
  close(): Promise<void> {
    this.#options.closing.abort();
    return this.#inner.close();
  }

  async #sendAnswer(message: ProtocolMessage, options: SendOptions): Promise<void> {
    this.#answers++;
    try {
      await this.#inner.send(message, options);
    } finally {
      this.#answers--;
    }
  }

  async #sendRequest(
    message: ProtocolMessage,
    id: RequestId,
    { requestSignal, onRequestStreamEnd, ...options }: SendOptions,
  ): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    this.#requests.set(id, controller);
    try {
      await this.#inner.send(message, {
        ...options,
        requestSignal: requestSignal ? AbortSignal.any([requestSignal, signal]) : signal,
        onRequestStreamEnd: () => {
          onRequestStreamEnd?.();
          this.#rejectUnanswered(id, "The response ended without a result");
        },
      });
      if (this.#complete.delete(id)) {
        this.#rejectUnanswered(id, "The response does not answer the request");
      }
    } catch (error) {
      this.#requests.delete(id);
      this.#complete.delete(id);
      throw error;
    }
  }

  #rejectUnanswered(id: RequestId, reason: string): void {
    if (this.#requests.delete(id)) this.onmessage?.(createErrorResponse(id, reason));
  }

  #closeRequest(id: unknown): void {
    if (typeof id !== "string" && typeof id !== "number") return;
    const controller = this.#requests.get(id);
    this.#requests.delete(id);
    controller?.abort();
  }

  #receive(value: unknown): void {
    const message = repairMessage(value, this.#options.report);
    if (!message) return;
    const { id, method } = message;
    if (id !== undefined && method !== undefined && this.#answers >= MAX_ANSWERS) {
      return this.#options.report("sends requests, and does not accept the answers");
    }
    if (id !== undefined && method === undefined) this.#requests.delete(id);
    this.onmessage?.(message);
  }
}

/** Returns the id of a JSON-RPC request; `undefined` if the body is that of another request, such as one for a token. */
function readRequestId(body: string): RequestId | undefined {
  try {
    const { id } = JSON.parse(body);
    return typeof id === "string" || typeof id === "number" ? id : undefined;
  } catch {
    return undefined;
  }
}
