/**
 * The npm package `@agentclientprotocol/sdk`: the part in use, and its import on first use.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";

/** The client at the other end of a connection. */
export interface AcpPeer {
  /** Sends a request. */
  request(
    method: string,
    params: object,
    options?: { cancellationSignal?: AbortSignal; stopWaitingOnCancel?: boolean },
  ): Promise<unknown>;
  /** Sends a notification. */
  notify(method: string, params: object): Promise<void>;
}

/** A message from the client. */
export interface AcpIncoming {
  /** The parameters, which the package has validated. */
  // deno-lint-ignore no-explicit-any -- the package validates them by the schema of the method
  readonly params: any;
  /** Aborted when the client cancels the request. */
  readonly signal: AbortSignal;
  /** The client. */
  readonly client: AcpPeer;
}

/** An app that handles requests. */
export interface AcpApp {
  /** Adds a handler of requests. */
  onRequest(method: string, handler: (context: AcpIncoming) => unknown): unknown;
  /** Adds a handler of notifications. */
  onNotification(method: string, handler: (context: AcpIncoming) => void): unknown;
  /** Starts to handle the messages of a stream. */
  connect(stream: never): { readonly closed: Promise<void>; close(error?: unknown): void };
}

/** The package `@agentclientprotocol/sdk`, version 2: `await import("@agentclientprotocol/sdk")`. */
export interface AcpPackage {
  /** Creates an app. */
  agent(options: { name: string }): unknown;
  /** Creates a stream of messages from lines of JSON. */
  ndJsonStream(output: WritableStream<Uint8Array>, input: ReadableStream<Uint8Array>): {
    readonly readable: ReadableStream<unknown>;
    readonly writable: WritableStream<unknown>;
  };
  /** An error with a code of JSON-RPC. */
  readonly RequestError: new (code: number, message: string, data?: unknown) => Error;
}

/** The npm package and its version range, equal to that in deno.json. */
export const ACP_PACKAGE = { name: "@agentclientprotocol/sdk", range: "^2.4.0" } as const;

/**
 * Imports the package. The specifier is not a literal, because Deno and bundlers would download the package with the
 * library.
 *
 * @throws {BadRequestError} If it is not installed.
 */
export async function importAcpPackage(): Promise<AcpPackage> {
  const { name, range } = ACP_PACKAGE;
  const specifier = `npm:${name}@${range}`;
  try {
    return await import(specifier);
  } catch (cause) {
    // Runtimes without npm: specifiers resolve installed packages by name.
    return await importInstalled(name, cause);
  }
}

async function importInstalled(name: string, cause: unknown): Promise<AcpPackage> {
  try {
    return await import(name);
  } catch {
    throw new BadRequestError(
      `Cannot load the npm package ${name}, which serveAcp() needs: install it, or pass it as sdk`,
      { cause },
    );
  }
}
