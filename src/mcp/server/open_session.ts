/**
 * Connects to a server.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import type { Clock } from "../../core/ports.ts";
import type { ProcessSpawner } from "../../core/process_spawner.ts";
import { spawnProcess } from "../../platform/spawn_process.ts";
import { system } from "../../platform/system.ts";
import type { ResolvedServer } from "../config/config.ts";
import type { McpElicit } from "../config/options.ts";
import type { OAuthSession } from "../oauth/oauth_session.ts";
import type {
  ClientTransport,
  HttpClientTransport,
  McpClientPackage,
  ProtocolClient,
} from "../protocol/client_package.ts";
import type { ReportProblem } from "../protocol/repair_message.ts";
import { createBoundedFetch } from "../transport/bounded_fetch.ts";
import { HttpTransport } from "../transport/http_transport.ts";
import { StdioTransport } from "../transport/stdio_transport.ts";
import { ELICITATION_CAPABILITIES, handleElicitation } from "./elicitation.ts";
import { createServerEnvironment } from "./server_environment.ts";
import { type ListMethod, Session } from "./session.ts";

/** The parts of the program that a connection uses. */
export interface SessionDependencies {
  readonly clientPackage: McpClientPackage;
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** Starts programs; `undefined` if none was passed. */
  readonly sandbox: ProcessSpawner | "off" | undefined;
  readonly oauth: OAuthSession | undefined;
  readonly elicit: McpElicit | undefined;
  readonly fetch: typeof fetch;
  readonly startTimeoutMs: number;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
  readonly report: ReportProblem;
  readonly onListChange: (method: ListMethod) => void;
  /** Called before and after the user authorizes this program. */
  readonly onAuthorizing: (isWaiting: boolean) => void;
}

/** A transport, and what differs between programs and HTTP. */
interface Connection {
  readonly transport: ClientTransport;
  readonly getFailure: () => string | undefined;
  readonly terminate: () => Promise<void>;
  /** Lets the user authorize this program. */
  readonly authorize?: (signal: AbortSignal) => Promise<void>;
}

/** How a connection is opened. `legacy`: without asking for the later versions of the protocol. */
type Negotiation = "auto" | "legacy";

/** Connects to a server. Rejects with the reason if that fails; the server then no longer runs. */
export async function openSession(
  server: ResolvedServer,
  dependencies: SessionDependencies,
  signal: AbortSignal,
): Promise<Session> {
  const connector = new SessionOpener(server, dependencies);
  try {
    return await connector.open("auto", signal);
  } catch (error) {
    if (error instanceof AuthorizationNeeded) {
      await error.authorize(signal);
      return await connector.open("auto", signal);
    }
    // Servers of the first versions may end when they are asked for the later ones.
    if (server.type === "http" || !isNegotiationFailure(error) || signal.aborted) throw error;
    return await connector.open("legacy", signal);
  }
}

/** The server requires that the user authorizes this program. */
class AuthorizationNeeded extends Error {
  readonly authorize: (signal: AbortSignal) => Promise<void>;

  constructor(authorize: (signal: AbortSignal) => Promise<void>) {
    super("The server requires an authorization");
    this.authorize = authorize;
  }
}

/** The code of the client's error for a connection that ended while the version was negotiated. */
function isNegotiationFailure(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERA_NEGOTIATION_FAILED";
}

/** Whether an error of the client means that this program is not authorized. */
export function isUnauthorized(error: unknown): boolean {
  return error instanceof Error && error.name === "UnauthorizedError";
}

class SessionOpener {
  readonly #server: ResolvedServer;
  readonly #dependencies: SessionDependencies;

  constructor(server: ResolvedServer, dependencies: SessionDependencies) {
    this.#server = server;
    this.#dependencies = dependencies;
  }

  async open(negotiation: Negotiation, closing: AbortSignal): Promise<Session> {
    const connection = this.#connect(closing);
    const client = this.#createClient();
    const { startTimeoutMs } = this.#dependencies;
    const options = {
      timeout: startTimeoutMs,
      ...(negotiation === "legacy" && { prior: { kind: "legacy" } as const }),
    };
    try {
      await this.#limitTime(client.connect(connection.transport, options), closing);
      const { getFailure, terminate } = connection;
      const { onListChange } = this.#dependencies;
      return new Session({ client, getFailure, terminate, onListChange });
    } catch (error) {
      await connection.transport.close().catch(() => {});
      if (connection.authorize && isUnauthorized(error)) {
        throw this.#createAuthorizationNeeded(connection.authorize);
      }
      const failure = connection.getFailure();
      if (failure === undefined || isNegotiationFailure(error)) throw error;
      throw new Error(failure, { cause: error });
    }
  }

  #createAuthorizationNeeded(
    authorize: (signal: AbortSignal) => Promise<void>,
  ): AuthorizationNeeded {
    const { onAuthorizing } = this.#dependencies;
    return new AuthorizationNeeded(async (signal) => {
      onAuthorizing(true);
      await authorize(signal);
      onAuthorizing(false);
    });
  }

  /** Rejects when the server takes too long. */
  async #limitTime(connecting: Promise<void>, closing: AbortSignal): Promise<void> {
    const { clock, startTimeoutMs } = this.#dependencies;
    const timer = new AbortController();
    const stopTimer = () => timer.abort();
    closing.addEventListener("abort", stopTimer);
    const timeout = clock.sleep(startTimeoutMs, timer.signal).then(() => {
      closing.throwIfAborted();
      if (!timer.signal.aborted) {
        throw new Error(`The server did not start within ${startTimeoutMs} ms`);
      }
    });
    try {
      await Promise.race([connecting, timeout.then(() => connecting)]);
    } finally {
      closing.removeEventListener("abort", stopTimer);
      stopTimer();
      connecting.catch(() => {});
    }
  }

  #createClient(): ProtocolClient {
    const { clientPackage, clientInfo, elicit, startTimeoutMs } = this.#dependencies;
    const client = new clientPackage.Client(clientInfo, {
      capabilities: elicit ? ELICITATION_CAPABILITIES : {},
      versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.ceil(startTimeoutMs / 2) } },
      // Structured results are checked by this library, whose validator is safe for schemas of any origin.
      jsonSchemaValidator: { getValidator: () => (data: unknown) => ({ valid: true, data }) },
    }) as ProtocolClient;
    if (elicit) handleElicitation(client, { server: this.#server.name, elicit });
    return client;
  }

  #connect(closing: AbortSignal): Connection {
    const server = this.#server;
    switch (server.type) {
      case "stdio":
        return this.#connectProgram(server);
      case "http":
        return this.#connectHttp(server, closing);
    }
  }

  #connectProgram(server: ResolvedServer & { readonly type: "stdio" }): Connection {
    const { maxMessageBytes, clock, report } = this.#dependencies;
    const { command, args, env, cwd } = server;
    const transport = new StdioTransport({
      spawner: this.#getSpawner(),
      launch: { program: command, args, env: createServerEnvironment(env), cwd },
      maxMessageBytes,
      clock,
      report,
    });
    return { transport, getFailure: () => transport.failure, terminate: () => Promise.resolve() };
  }

  #getSpawner(): ProcessSpawner {
    const { sandbox } = this.#dependencies;
    if (sandbox === "off") {
      return { spawn: (launch) => spawnProcess({ ...launch, cwd: launch.cwd ?? system.cwd() }) };
    }
    if (sandbox) return sandbox;
    throw new BadRequestError(
      "A server that is a program needs a sandbox: pass sandbox: createSandbox() of " +
        '@swink/agent/tools, or sandbox: "off" to run it with all rights of this program',
    );
  }

  #connectHttp(
    server: ResolvedServer & { readonly type: "http" },
    signal: AbortSignal,
  ): Connection {
    const { clientPackage, maxMessageBytes, clock, report, oauth, fetch } = this.#dependencies;
    const inner = new clientPackage.StreamableHTTPClientTransport(server.url, {
      requestInit: { headers: server.headers },
      fetch: createBoundedFetch({ fetch, maxMessageBytes, clock, signal }),
      reconnectionScheduler: createReconnectionScheduler(clock),
      ...(oauth && { authProvider: oauth.provider }),
    }) as HttpClientTransport;
    return {
      transport: new HttpTransport(inner, report),
      getFailure: () => undefined,
      terminate: () => inner.terminateSession(),
      ...(oauth && { authorize: (signal: AbortSignal) => oauth.authorize(inner, signal) }),
    };
  }
}

const RECONNECT_MS = 1_000;
const MAX_RECONNECT_MS = 60_000;

/**
 * Creates the function that the client calls when the event stream of a server has ended. The delay is the server's, but
 * at least one second, and longer for each attempt that fails.
 */
function createReconnectionScheduler(
  clock: Clock,
): (reconnect: () => void, delay: number, attempt: number) => () => void {
  return (reconnect, delay, attempt) => {
    const controller = new AbortController();
    const { signal } = controller;
    const minimum = Math.min(RECONNECT_MS * 2 ** attempt, MAX_RECONNECT_MS);
    void clock.sleep(Math.max(delay, minimum), signal).then(() => {
      if (!signal.aborted) reconnect();
    });
    return () => controller.abort();
  };
}
