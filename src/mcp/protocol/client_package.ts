/**
 * The npm package `@modelcontextprotocol/client`: the part in use, and its import on first use.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { importNpmPackage } from "../../core/ports/npm_package.ts";

/** A JSON-RPC message: a request, a notification or a response. */
export interface ProtocolMessage {
  readonly jsonrpc: "2.0";
  /** Id of a request, or of the request that a response answers. */
  readonly id?: string | number | undefined;
  /** Method of a request or a notification. */
  readonly method?: string | undefined;
  readonly params?: JsonObject | undefined;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Options of the client for sending a message. */
export interface SendOptions {
  /** Called when the response of a server to an HTTP request ends. */
  readonly onRequestStreamEnd?: (() => void) | undefined;
  /** Closes the HTTP request. */
  readonly requestSignal?: AbortSignal | undefined;
}

/** A connection to a server, over which messages are exchanged. */
export interface ClientTransport {
  /** Opens the connection. */
  start(): Promise<void>;
  /** Sends a message. */
  send(message: ProtocolMessage, options?: SendOptions): Promise<void>;
  /** Closes the connection. */
  close(): Promise<void>;
  /** Whether each request has a response stream of its own, which is closed to cancel the request. */
  readonly hasPerRequestStream?: boolean;
  /** Id of the session, if the server assigns one. */
  readonly sessionId?: string | undefined;
  /** Sets the version of the protocol that was negotiated. */
  setProtocolVersion?: ((version: string) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: ProtocolMessage) => void) | undefined;
}

/** The transport of the client over HTTP. */
export interface HttpClientTransport extends ClientTransport {
  /** Redeems the code in the parameters of the page that the authorization server opened. */
  finishAuth(parameters: URLSearchParams): Promise<void>;
  /** Ends the session on the server. */
  terminateSession(): Promise<void>;
}

/** Options of a request. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly onprogress?: (progress: ProtocolProgress) => void;
}

/** A progress notification. */
export interface ProtocolProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** A request of the server. */
export interface ServerRequest {
  readonly params?: unknown;
}

/** Context of a request of the server. */
export interface ServerRequestContext {
  readonly mcpReq: {
    /** Aborted when the server cancels its request, or the connection is closed. */
    readonly signal: AbortSignal;
  };
}

/** A subscription to changes of the lists of a server. */
export interface ListSubscription {
  readonly closed: Promise<"local" | "graceful" | "remote">;
}

/** A client, which is connected to one server. */
export interface ProtocolClient {
  connect(transport: ClientTransport, options: ConnectOptions): Promise<void>;
  close(): Promise<void>;
  request(
    request: { readonly method: string; readonly params?: JsonObject },
    options: RequestOptions,
  ): Promise<unknown>;
  callTool(
    params: { readonly name: string; readonly arguments: JsonObject; readonly _meta?: JsonObject },
    options: RequestOptions & { readonly toolDefinition: unknown },
  ): Promise<unknown>;
  listen(filter: JsonObject, options: RequestOptions): Promise<ListSubscription>;
  setRequestHandler(
    method: string,
    handler: (request: ServerRequest, context: ServerRequestContext) => Promise<object>,
  ): void;
  setNotificationHandler(method: string, handler: () => void): void;
  getServerCapabilities(): JsonObject | undefined;
  getServerVersion(): { readonly name: string; readonly version: string } | undefined;
  getInstructions(): string | undefined;
  getProtocolEra(): "modern" | "legacy" | undefined;
  getNegotiatedProtocolVersion(): string | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** Options for connecting. */
export interface ConnectOptions extends RequestOptions {
  /** An earlier negotiation with the server. */
  readonly prior?: { readonly kind: "legacy" };
}

/** The package `@modelcontextprotocol/client`, version 2: `await import("@modelcontextprotocol/client")`. */
export interface McpClientPackage {
  /** Creates a client. */
  readonly Client: new (info: { name: string; version: string }, options: object) => unknown;
  /** Creates a transport over HTTP. */
  readonly StreamableHTTPClientTransport: new (url: URL, options: object) => unknown;
}

/** The npm package and its version range, equal to that in deno.json. */
export const CLIENT_PACKAGE = { name: "@modelcontextprotocol/client", range: "^2.4.0" } as const;

let pendingPackage: Promise<McpClientPackage> | undefined;

/**
 * Imports the package on the first call.
 *
 * @throws {BadRequestError} If it is not installed.
 */
export function importClientPackage(): Promise<McpClientPackage> {
  pendingPackage ??= importPackage();
  return pendingPackage;
}

async function importPackage(): Promise<McpClientPackage> {
  try {
    return await importNpmPackage(CLIENT_PACKAGE);
  } catch (cause) {
    pendingPackage = undefined;
    throw new BadRequestError(
      `Cannot load the npm package ${CLIENT_PACKAGE.name}, which connectMcp() needs: install it, or pass it as clientPackage`,
      { cause },
    );
  }
}
