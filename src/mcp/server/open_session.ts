/**
 * Connects to a server.
 *
 * @module
 */

import { AgentError, AuthError, getErrorMessage, NetworkError } from "../../core/errors/errors.ts";
import type { McpElicit } from "../config/options.ts";
import type { ResolvedServer } from "../config/resolve_server.ts";
import type { ProtocolClient } from "../protocol/client_package.ts";
import { withTimeLimit } from "../transport/time_limit.ts";
import { hasRejectedCredentials } from "../transport/token_fetch.ts";
import { ActiveRequests } from "./active_requests.ts";
import {
  ELICITATION_CAPABILITIES,
  type ElicitationHandler,
  handleElicitation,
} from "./elicitation.ts";
import { createLink, type LinkOptions, type ServerLink } from "./server_link.ts";
import { Session } from "./session.ts";

/** The parts of the program that a session uses. */
export interface SessionDependencies extends LinkOptions {
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly onElicitation: McpElicit | undefined;
  readonly startTimeoutMs: number;
  /** Called when the tools of the server have changed. */
  readonly onToolsChange: (session: Session) => void;
  /** Called before and after the user authorizes this program. */
  readonly onAuthorizing: (isWaiting: boolean) => void;
}

/** Maximum time that a server gets to answer whether it knows the later versions. */
const PROBE_MS = 10_000;

/** How a connection is opened. `legacy`: without asking for the later versions of the protocol. */
type Negotiation = "auto" | "legacy";

/** Connects to a server. Rejects with the reason if that fails; the server then no longer runs. */
export async function openSession(
  server: ResolvedServer,
  dependencies: SessionDependencies,
  signal: AbortSignal,
): Promise<Session> {
  const open = () => openOnce(server, dependencies, signal);
  try {
    return await open();
  } catch (error) {
    if (signal.aborted || !hasRejectedCredentials(error)) throw error;
    return await open(); // The credentials are discarded: the user authorizes this program again.
  }
}

async function openOnce(
  server: ResolvedServer,
  dependencies: SessionDependencies,
  signal: AbortSignal,
): Promise<Session> {
  const attempt = new SessionAttempt(server, dependencies, signal);
  try {
    return await attempt.open("auto");
  } catch (error) {
    if (signal.aborted) throw error;
    if (isUnauthorized(error)) {
      await attempt.authorize();
      return await attempt.open("auto");
    }
    // Servers of the first versions may end when they are asked for the later ones.
    if (server.type === "stdio" && isNegotiationFailure(error)) return await attempt.open("legacy");
    throw error;
  }
}

/** Whether an error of the client means that this program is not authorized. */
export function isUnauthorized(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "UnauthorizedError" || ("status" in error && error.status === 401);
}

/** The code of the client's error for a connection that ended while the version was negotiated. */
function isNegotiationFailure(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERA_NEGOTIATION_FAILED";
}

class SessionAttempt {
  readonly #server: ResolvedServer;
  readonly #dependencies: SessionDependencies;
  readonly #signal: AbortSignal;
  #link: ServerLink | undefined;

  constructor(server: ResolvedServer, dependencies: SessionDependencies, signal: AbortSignal) {
    this.#server = server;
    this.#dependencies = dependencies;
    this.#signal = signal;
  }

  async open(negotiation: Negotiation): Promise<Session> {
    const { startTimeoutMs, clock, onToolsChange } = this.#dependencies;
    const link = this.#link = createLink(this.#server, this.#dependencies);
    const { transport, getFailure, isOffline, isRefused, terminate } = link;
    const { observeRefusal, observeReopening } = link;
    const requests = new ActiveRequests();
    const client = this.#createClient();
    const handleElicitation = this.#handleElicitation(client, requests);
    const options = {
      timeout: startTimeoutMs,
      ...(negotiation === "legacy" && { prior: { kind: "legacy" } as const }),
    };
    try {
      await withTimeLimit(() => requests.track(() => client.connect(transport, options)), {
        clock,
        milliseconds: startTimeoutMs,
        signal: this.#signal,
        message: `The server did not start within ${startTimeoutMs} ms`,
      });
      return new Session({
        client,
        isOffline: isOffline(),
        ...(this.#server.type === "http" && {
          endpoint: new URL(this.#server.url),
          getSessionId: () => transport.sessionId,
        }),
        requests,
        handleElicitation,
        getFailure,
        terminate,
        isRefused,
        observeRefusal,
        observeReopening,
        authorize: () => this.authorize(),
        onToolsChange,
        clock,
      });
    } catch (error) {
      await transport.close().catch(() => {});
      const failure = getFailure();
      if (failure === undefined || isNegotiationFailure(error)) throw error;
      throw new NetworkError(failure);
    }
  }

  /** Lets the user authorize this program through the link that was refused, whose transport has the request. */
  async authorize(): Promise<void> {
    const { onAuthorizing } = this.#dependencies;
    onAuthorizing(true);
    try {
      await this.#link?.authorize(this.#signal);
    } catch (cause) {
      if (AgentError.is(cause)) throw cause;
      throw new AuthError(`The authorization failed: ${getErrorMessage(cause)}`, { cause });
    } finally {
      onAuthorizing(false);
    }
  }

  #createClient(): ProtocolClient {
    const { clientPackage, clientInfo, onElicitation, startTimeoutMs } = this.#dependencies;
    return new clientPackage.Client(clientInfo, {
      capabilities: onElicitation ? ELICITATION_CAPABILITIES : {},
      versionNegotiation: {
        mode: "auto",
        probe: { timeoutMs: Math.min(PROBE_MS, startTimeoutMs / 2) },
      },
      // Structured results are checked by this library, whose validator is safe for schemas of any origin.
      jsonSchemaValidator: { getValidator: () => (data: unknown) => ({ valid: true, data }) },
    }) as ProtocolClient;
  }

  #handleElicitation(
    client: ProtocolClient,
    requests: ActiveRequests,
  ): ElicitationHandler | undefined {
    const { name: server, onElicitation: elicit, report } = this.#dependencies;
    return elicit && handleElicitation(client, { server, elicit, requests, report });
  }
}
