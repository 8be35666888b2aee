/**
 * Serves the Agent Client Protocol.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { AcpHost } from "./acp_host.ts";
import { AcpServer } from "./acp_server.ts";
import { AcpServerV2 } from "./acp_server_v2.ts";
import { ConnectionGuard, type MessageStream } from "./connection_guard.ts";
import {
  type AcpApp,
  type AcpPackage,
  type AcpV2Package,
  importAcpPackage,
  importAcpV2Package,
} from "./sdk_package.ts";
import { toWellFormedOutput } from "./well_formed_output.ts";

/** Options for {@linkcode serveAcp}. */
export interface ServeAcpOptions {
  /** Messages from the client: lines of JSON, such as standard input. */
  readonly input: ReadableStream<Uint8Array>;
  /** Messages to the client, such as standard output, to which nothing else may be written. */
  readonly output: WritableStream<Uint8Array>;
  /** Ends the connection. Default: it ends with the input. */
  readonly signal?: AbortSignal | undefined;
  /** Returns the time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
  /**
   * Whether clients may select the draft of version 2 of the protocol, which changes without notice, or its package for
   * bundles, `@agentclientprotocol/sdk/experimental/v2`. Default: `false`.
   */
  readonly experimentalV2?: boolean | AcpV2Package | undefined;
  /** The npm package `@agentclientprotocol/sdk`, for bundles. Default: imported by the first call. */
  readonly sdk?: AcpPackage | undefined;
}

const OPTION_NAMES: Record<keyof ServeAcpOptions, true> = {
  input: true,
  output: true,
  signal: true,
  now: true,
  experimentalV2: true,
  sdk: true,
};

/**
 * Serves a client of the Agent Client Protocol, version 1, such as an editor, until it closes the connection. Runs that are
 * active then are aborted, and all sessions are closed.
 *
 * @throws {BadRequestError} If an option is unknown, the package `@agentclientprotocol/sdk` is not installed, or a message of the client is larger
 * than 32 MB, which ends the connection.
 *
 * @example
 * ```ts ignore
 * import { Agent } from "@swink/agent";
 * import { serveAcp } from "@swink/agent/acp";
 *
 * await serveAcp({
 *   name: "helper",
 *   version: "1.0.0",
 *   createSession: async ({ client }) => ({
 *     id: crypto.randomUUID(),
 *     agent: new Agent({ model: "anthropic/claude-sonnet-5-5", tools, approve: client.ask }),
 *   }),
 * }, { input: Deno.stdin.readable, output: Deno.stdout.writable });
 * ```
 */
export async function serveAcp(host: AcpHost, options: ServeAcpOptions): Promise<void> {
  checkObject(options, "Pass streams to serveAcp() such as { input, output }");
  checkNames(options, Object.keys(OPTION_NAMES), "serveAcp()");
  const { input, output, signal, now = Date.now, sdk = await importAcpPackage() } = options;
  const { experimentalV2 = false } = options;
  const sdkV2 = experimentalV2 === true ? await importAcpV2Package() : experimentalV2 || undefined;
  const { promise: closed, resolve: onClosed } = createDeferred();
  const server = new AcpServer(host, { sdk, now, closed });
  const app = sdk.agent({ name: host.name }) as AcpApp;
  server.register(app);
  const serverV2 = sdkV2 && new AcpServerV2(host, { sdk: sdkV2, now, closed });
  const guard = new ConnectionGuard();
  const lines = sdk.ndJsonStream(toWellFormedOutput(output), guard.limit(input));
  const stream = guard.check(lines);
  const end = () => guard.end();
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted) end();
  try {
    await connect(app, { stream, serverV2, sdkV2 });
  } finally {
    signal?.removeEventListener("abort", end);
    guard.end();
    onClosed();
    await Promise.all([server.close(), serverV2?.close()]);
  }
  if (guard.problem) throw guard.problem;
}

interface ConnectOptions {
  readonly stream: MessageStream;
  readonly serverV2: AcpServerV2 | undefined;
  readonly sdkV2: AcpV2Package | undefined;
}

/** Serves a connection until it ends, with the version that the client selects. */
async function connect(app: AcpApp, { stream, serverV2, sdkV2 }: ConnectOptions): Promise<void> {
  if (!serverV2 || !sdkV2) return await app.connect(stream as never).closed;
  const router = sdkV2.agentProtocolRouter().withV1(app as never).withV2(serverV2.app as never);
  await router.connect(stream as never).closed;
}
