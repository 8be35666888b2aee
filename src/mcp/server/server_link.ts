/**
 * The link to a server: a transport, and what differs between programs and HTTP.
 *
 * @module
 */

import { AuthError, BadRequestError } from "../../core/errors/errors.ts";
import { abortable } from "../../core/ports/abortable.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { ProcessSpawner } from "../../core/ports/process_spawner.ts";
import { spawnProcess } from "../../platform/spawn_process.ts";
import { system } from "../../platform/system.ts";
import type { Variables } from "../config/expand_variables.ts";
import type { McpOAuth, McpSandbox } from "../config/options.ts";
import type { ParsedProgram } from "../config/parse_config.ts";
import type { ResolvedEndpoint, ResolvedServer } from "../config/resolve_server.ts";
import type {
  ClientTransport,
  HttpClientTransport,
  McpClientPackage,
} from "../protocol/client_package.ts";
import type { ReportProblem } from "../protocol/repair_message.ts";
import { createBoundedFetch } from "../transport/bounded_fetch.ts";
import { HttpTransport } from "../transport/http_transport.ts";
import { keepHeadersAtOrigin } from "../transport/origin_headers.ts";
import { StdioTransport } from "../transport/stdio_transport.ts";
import { observeReopening } from "../transport/stream_openings.ts";
import { createTokenFetch } from "../transport/token_fetch.ts";
import { completeProvider } from "./oauth_provider.ts";
import { createServerEnvironment } from "./server_environment.ts";

/** A link to a server. */
export interface ServerLink {
  readonly transport: ClientTransport;
  /** Returns the reason why the link ended by itself, if it is known. */
  readonly getFailure: () => string | undefined;
  /** Whether the server cannot reach other machines. */
  readonly isOffline: () => boolean;
  /** Ends the session on the server. */
  readonly terminate: () => Promise<void>;
  /** Whether the user was sent to the authorization server, because the server has refused a request. */
  readonly isRefused: () => boolean;
  /** Sets the function that is called when the user was sent there. Default: none. */
  readonly observeRefusal: (listener: () => void) => void;
  /** Sets the function that is called when messages of the server may be lost. Default: none. */
  readonly observeReopening: (listener: () => void) => void;
  /** Lets the user authorize this program, after the server has required it. */
  readonly authorize: (signal: AbortSignal) => Promise<void>;
}

/** The parts of the program that a link uses. */
export interface LinkOptions {
  readonly name: string;
  readonly clientPackage: McpClientPackage;
  readonly environment: Variables;
  /** Starts programs; `undefined` if none was passed. */
  readonly sandbox: McpSandbox | undefined;
  readonly oauth: McpOAuth | undefined;
  readonly fetch: typeof fetch;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
  readonly report: ReportProblem;
}

/** Creates a link that is not open yet. */
export function createLink(server: ResolvedServer, options: LinkOptions): ServerLink {
  switch (server.type) {
    case "stdio":
      return createProgramLink(server, options);
    case "http":
      return createHttpLink(server, options);
  }
}

function createProgramLink(
  { command, args, env, cwd }: ParsedProgram,
  { environment, sandbox, maxMessageBytes, clock, report }: LinkOptions,
): ServerLink {
  const transport = new StdioTransport({
    spawner: toSpawner(sandbox),
    launch: { program: command, args, env: createServerEnvironment(environment, env), cwd },
    maxMessageBytes,
    clock,
    report,
  });
  return {
    transport,
    getFailure: () => transport.failure,
    isOffline: () => transport.isOffline,
    terminate: () => Promise.resolve(),
    isRefused: () => false,
    observeRefusal: () => {},
    observeReopening: () => {},
    authorize: rejectAuthorization,
  };
}

function toSpawner(sandbox: McpSandbox | undefined): ProcessSpawner {
  if (sandbox === "off") {
    return { spawn: (launch) => spawnProcess({ ...launch, cwd: launch.cwd ?? system.cwd() }) };
  }
  if (sandbox) return sandbox;
  throw new BadRequestError(
    "A server that is a program needs a sandbox: pass sandbox: createSandbox() of @swink/agent/tools, " +
      'or sandbox: "off" to run it with all rights of this program',
  );
}

function createHttpLink(
  { url, headers }: ResolvedEndpoint,
  { name, clientPackage, oauth, fetch, maxMessageBytes, clock, report }: LinkOptions,
): ServerLink {
  const closing = new AbortController();
  const { signal } = closing;
  const boundedFetch = createBoundedFetch({
    fetch: keepHeadersAtOrigin(fetch, { origin: url.origin, headers }),
    maxMessageBytes,
    clock,
    signal,
    onResponse: (request) => transport.noteResponse(request),
  });
  let onRefusal = () => {};
  let onReopen = () => {};
  const send = observeReopening(boundedFetch, () => onReopen());
  const authorization = oauth &&
    completeProvider(oauth.provider, { report, onRedirect: () => onRefusal() });
  const inner = new clientPackage.StreamableHTTPClientTransport(url, {
    requestInit: { headers },
    fetch: authorization
      ? createTokenFetch({ ...authorization, fetch: send, report, clock })
      : send,
    reconnectionScheduler: createReconnectionScheduler(clock, signal),
    reconnectionOptions: RECONNECTION,
    ...(authorization && { authProvider: authorization.provider }),
  }) as HttpClientTransport;
  const transport = new HttpTransport(inner, { report, closing });
  const { awaitRedirect } = oauth ?? {};
  return {
    transport,
    getFailure: () => undefined,
    isOffline: () => false,
    terminate: () => inner.terminateSession(),
    isRefused: () => awaitRedirect !== undefined && authorization?.isPending() === true,
    observeRefusal: (listener) => {
      if (awaitRedirect) onRefusal = listener;
    },
    observeReopening: (listener) => {
      onReopen = listener;
    },
    authorize: authorization && awaitRedirect
      ? async (signal) => {
        try {
          const redirect = await abortable(awaitRedirect({ server: name, signal }), signal);
          await inner.finishAuth(authorization.readRedirect(redirect));
        } finally {
          authorization.endPending();
        }
      }
      : rejectAuthorization,
  };
}

function rejectAuthorization(): Promise<void> {
  return Promise.reject(
    new AuthError(
      "The server requires an authorization: add a header to its configuration, or pass oauth",
    ),
  );
}

const RECONNECT_MS = 1_000;
const MAX_RECONNECT_MS = 60_000;

/**
 * Two attempts, the default of the client, are over after three seconds: without the stream, this program would never
 * learn of further changes. More than half a minute would keep calls to a server that has ended waiting.
 */
const RECONNECTION = {
  initialReconnectionDelay: RECONNECT_MS,
  maxReconnectionDelay: MAX_RECONNECT_MS,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 5,
};

/**
 * Creates the function that the client calls when the event stream of a server has ended. The delay is the server's, but
 * at least one second, and longer for each attempt that fails. The signal ends all waiting: the client itself only ends
 * that of the last stream.
 */
function createReconnectionScheduler(
  clock: Clock,
  signal: AbortSignal,
): (reconnect: () => void, delay: number, attempt: number) => void {
  return (reconnect, delay, attempt) => {
    const minimum = Math.min(RECONNECT_MS * 2 ** attempt, MAX_RECONNECT_MS);
    void clock.sleep(Math.max(delay, minimum), signal).then(() => {
      if (!signal.aborted) reconnect();
    });
  };
}
