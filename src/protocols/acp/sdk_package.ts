/**
 * The npm package `@agentclientprotocol/sdk`: the part in use, and its import on first use.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { importNpmPackage } from "../../core/ports/npm_package.ts";

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

/** The package `@agentclientprotocol/sdk/experimental/v2`, with the draft of version 2 of the protocol. */
export interface AcpV2Package extends Pick<AcpPackage, "agent" | "RequestError"> {
  /** Creates a connector that selects the version by the first message. */
  agentProtocolRouter(): AcpRouter;
}

/** Connects a client to the app of the version that it selects. */
export interface AcpRouter {
  /** Sets the app for version 1. */
  withV1(app: never): AcpRouter;
  /** Sets the app for version 2. */
  withV2(app: never): AcpRouter;
  /** Starts to handle the messages of a stream. */
  connect(stream: never): { readonly closed: Promise<void> };
}

/** The npm package and its version range, equal to that in deno.json. */
export const ACP_PACKAGE = { name: "@agentclientprotocol/sdk", range: "^2.4.0" } as const;

/**
 * Imports the package.
 *
 * @throws {BadRequestError} If it is not installed.
 */
export async function importAcpPackage(): Promise<AcpPackage> {
  return await importPackage();
}

/**
 * Imports the draft of version 2 of the protocol.
 *
 * @throws {BadRequestError} If the package is not installed.
 */
export async function importAcpV2Package(): Promise<AcpV2Package> {
  return await importPackage("/experimental/v2");
}

async function importPackage<Package>(path = ""): Promise<Package> {
  try {
    return await importNpmPackage({ ...ACP_PACKAGE, path });
  } catch (cause) {
    throw new BadRequestError(
      `Cannot load the npm package ${ACP_PACKAGE.name}, which serveAcp() needs: install it, or pass it as sdk`,
      { cause },
    );
  }
}
