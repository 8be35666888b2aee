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

  /** Sends a message. A request whose response stream ends without a response gets an error response. */
  send(message: ProtocolMessage, options: SendOptions = {}): Promise<void> {
    const { id, method } = message;
    if (id === undefined || method === undefined) return this.#inner.send(message, options);
    const onRequestStreamEnd = () => {
      options.onRequestStreamEnd?.();
      this.onmessage?.(createErrorResponse(id, "The response ended without a result"));
    };
    return this.#inner.send(message, { ...options, onRequestStreamEnd });
  }

  /** Closes the connection. */
  close(): Promise<void> {
    this.#options.closing.abort();
    return this.#inner.close();
  }

  #receive(value: unknown): void {
    const message = repairMessage(value, this.#options.report);
    if (message) this.onmessage?.(message);
  }
}
