/**
 * Sessions of agents over HTTP.
 *
 * @module
 */

import { refusePromise } from "../core/errors/refuse_promise.ts";
import { systemClock } from "../core/ports/ports.ts";
import { startTimer } from "../core/ports/start_timer.ts";
import { KEEP_ALIVE_MS } from "../core/streams/keep_alive.ts";
import { scopeSessions } from "../memory/storage/scoped_store.ts";
import { authenticateRequest } from "./access/authenticate_request.ts";
import type { Caller, Connection } from "./access/caller.ts";
import { checkHost, checkOrigin, createPreflightHeaders } from "./access/check_origin.ts";
import { EventStreams } from "./events/event_streams.ts";
import { matchRoute, type RouteMatch } from "./http/match_route.ts";
import {
  ApplicationError,
  callApplication,
  createFailure,
  createShutdownFailure,
  type Problem,
  type ProblemCode,
  RequestFailure,
  toProblem,
  toResponse,
} from "./http/problem.ts";
import { type ResolvedLimits, resolveLimits } from "./limits/tenant_limits.ts";
import { TenantUsage } from "./limits/tenant_usage.ts";
import { Metrics } from "./metrics/metrics.ts";
import type { Services } from "./operations/call.ts";
import { createRoutes, type Route } from "./operations/routes.ts";
import { PAGE_ROUTES } from "./page/page_routes.ts";
import type { CloseReport } from "./runner/agent_runner.ts";
import { KeyedQueue } from "./runner/keyed_queue.ts";
import { LocalRunner } from "./runner/local_runner.ts";
import { type AgentServerOptions, checkLimits, checkServerOptions } from "./server_options.ts";

/** Options for {@linkcode AgentServer.close}. */
export interface CloseServerOptions {
  /** Time after which runs that are still active are stopped, in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
}

/** A server for `Deno.serve()`, or any other that takes a function from a `Request` to a `Response`. */
export interface AgentServer {
  /**
   * Answers a request; the second argument is that of a `Deno.serve` handler, and what other servers pass there is ignored.
   * Never rejects.
   */
  readonly fetch: (request: Request, connection?: Connection | object) => Promise<Response>;
  /**
   * Shuts down: rejects new requests, waits for the active runs, and stops those that do not end in time, so that another
   * process can continue them. Then the event streams end with the reason `shutdown`.
   */
  readonly close: (options?: CloseServerOptions) => Promise<CloseReport>;
}

/** Time for which clients may still read the last events of their streams, in milliseconds. */
const DRAIN_MS = 2_000;

/** Failures whose reasons callers do not get. */
const REPORTED_CODES: ReadonlySet<ProblemCode> = new Set([
  "internal_error",
  "storage_failed",
  "authentication_failed",
]);

/** Headers of every response. */
const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

/**
 * Creates a server for sessions of agents: they are created, prompted, steered, approved and watched over HTTP.
 *
 * The server binds to nothing; `Deno.serve()` or another server calls its `fetch`. Without `authenticate` only callers on
 * the same machine are accepted. `/v1/openapi.json` describes the routes.
 *
 * @throws {BadRequestError} If an option is missing, unknown or invalid.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { InMemorySessionStore } from "@swink/agent/memory";
 * import { bearerTokens, createAgentServer } from "@swink/agent/server";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const server = createAgentServer({
 *   store: new InMemorySessionStore(),
 *   createAgent: () => new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) }),
 *   authenticate: bearerTokens([{ token: "example-token-of-acme", tenant: "acme" }]),
 * });
 * const response = await server.fetch(
 *   new Request("http://localhost/v1/sessions", {
 *     method: "POST",
 *     headers: { authorization: "Bearer example-token-of-acme" },
 *   }),
 * );
 * response.status; // 201
 * await server.close();
 * ```
 */
export function createAgentServer(options: AgentServerOptions): AgentServer {
  checkServerOptions(options);
  const server = new SessionServer(options);
  return {
    fetch: (request, connection) => server.answer(request, connection),
    close: (closeOptions) => server.close(closeOptions),
  };
}

class SessionServer {
  readonly #options: AgentServerOptions;
  readonly #services: Services;
  readonly #routes: readonly Route[];
  #closing: Promise<CloseReport> | undefined;
  #activeRequests = 0;

  constructor(options: AgentServerOptions) {
    this.#options = options;
    const { store, clock = systemClock, keepAliveMs = KEEP_ALIVE_MS, page = true } = options;
    this.#services = {
      store,
      clock,
      runner: options.runner ?? createLocalRunner(options),
      usage: new TenantUsage(clock.now),
      creations: new KeyedQueue(),
      metrics: new Metrics(),
      streams: new EventStreams({ keepAliveMs, clock }),
      newId: options.newId ?? (() => crypto.randomUUID()),
      bodyTimeoutMs: options.bodyTimeoutMs ?? 30_000,
      isClosing: () => this.#closing !== undefined,
      onError: (error) => void this.#report(error),
    };
    this.#routes = createRoutes(page ? PAGE_ROUTES : []);
    this.#defineGauges();
  }

  /** Answers a request. Never rejects. */
  async answer(request: Request, connection: Connection | undefined): Promise<Response> {
    const { clock } = this.#services;
    const started = clock.now();
    const observed: Observed = { route: "unknown", headers: {} };
    this.#activeRequests++;
    let response: Response;
    try {
      response = await this.#handle(request, connection, observed);
    } catch (thrown) {
      const problem = toProblem(thrown);
      if (REPORTED_CODES.has(problem.code)) void this.#report(thrown);
      response = this.#reject(request, problem);
    }
    this.#activeRequests--;
    this.#count(request, response, { ...observed, seconds: (clock.now() - started) / 1000 });
    const headers = { ...SECURITY_HEADERS, ...observed.headers };
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  }

  /** Ends the runs, then the streams; once. */
  close({ timeoutMs = 10_000 }: CloseServerOptions = {}): Promise<CloseReport> {
    this.#closing ??= this.#close(timeoutMs);
    return this.#closing;
  }

  async #close(timeoutMs: number): Promise<CloseReport> {
    const { clock, runner, streams } = this.#services;
    const timeout = new AbortController();
    const stopTimer = startTimer(clock, timeoutMs, () => timeout.abort());
    try {
      return await runner.close({ signal: timeout.signal });
    } finally {
      stopTimer();
      await streams.end("shutdown", DRAIN_MS);
    }
  }

  async #handle(
    request: Request,
    connection: Connection | undefined,
    observed: Observed,
  ): Promise<Response> {
    const { allowedHosts, allowedOrigins = [] } = this.#options;
    checkHost(request, { allowedHosts, connection });
    observed.headers = checkOrigin(request, { allowedOrigins });
    const url = new URL(request.url);
    const match = this.#match(request, url.pathname);
    const isAllowedOrigin = "access-control-allow-origin" in observed.headers;
    if (request.method === "OPTIONS" && isAllowedOrigin && match.type === "other_method") {
      return new Response(null, { status: 204, headers: createPreflightHeaders(match.methods) });
    }
    const isPublic = match.type === "matched" && match.route.access === "public";
    // Before unknown paths are reported: a caller without a token does not learn which exist.
    const caller = isPublic ? {} : await this.#authenticate(request, connection);
    const limits = await callApplication(() => this.#getLimits(caller));
    if (!isPublic) this.#services.usage.addRequest(caller.tenant, limits);
    if (match.type === "unknown") {
      throw createFailure("not_found", "There is no such path: see /v1/openapi.json");
    }
    if (match.type === "other_method") {
      const allow = match.methods.join(", ");
      throw createFailure("method_not_allowed", `Use one of the methods ${allow}`, {
        headers: { allow },
      });
    }
    const { route, parameters } = match;
    observed.route = route.path;
    if (this.#closing && !isPublic) {
      throw createShutdownFailure({ retryAfterMs: 2000 });
    }
    const store = scopeSessions(this.#services.store, caller);
    const call = { request, url, parameters, caller, limits, store };
    return await route.handle(call, this.#services);
  }

  /** Finds the route of a request. Monitors check by `HEAD` whether a public resource is there; servers omit its body. */
  #match({ method }: Request, path: string): RouteMatch<Route> {
    const match = matchRoute(this.#routes, method, path);
    if (method !== "HEAD") return match;
    const read = matchRoute(this.#routes, "GET", path);
    return read.type === "matched" && read.route.access === "public" ? read : match;
  }

  #authenticate(request: Request, connection: Connection | undefined): Promise<Caller> {
    const { authenticate, authenticateTimeoutMs: timeoutMs = 10_000 } = this.#options;
    const { clock } = this.#services;
    return authenticateRequest(request, { authenticate, connection, timeoutMs, clock });
  }

  #getLimits(caller: Caller): ResolvedLimits {
    const { limits } = this.#options;
    if (typeof limits !== "function") return resolveLimits(limits);
    const own = limits(caller);
    // A promise has none of the limits, and would lift those of the tenant.
    refusePromise(own, "limits()");
    checkLimits(own);
    return resolveLimits(own);
  }

  /** Creates the response for a failure, without reading the rest of the body. */
  #reject(request: Request, problem: Problem): Response {
    if (request.body && !request.body.locked) request.body.cancel().catch(() => {});
    this.#services.metrics.add("swink_http_errors_total", "Requests that failed, by the code.", {
      labels: { code: problem.code },
    });
    return toResponse(problem);
  }

  #count(
    { method }: Request,
    { status }: Response,
    { route, seconds }: Observed & { readonly seconds: number },
  ): void {
    const { metrics } = this.#services;
    // An unknown method could have any name.
    const known = route === "unknown" ? "any" : method;
    metrics.add("swink_http_requests_total", "Requests, by route, method and status.", {
      labels: { route, method: known, status: String(status) },
    });
    metrics.observe(
      "swink_http_request_duration_seconds",
      "Time from a request to the headers of its response.",
      seconds,
    );
  }

  #defineGauges(): void {
    const { metrics, streams, usage } = this.#services;
    metrics.defineGauge(
      "swink_http_requests_active",
      "Requests without a response.",
      () => this.#activeRequests,
    );
    metrics.defineGauge("swink_event_streams_active", "Open event streams.", () => streams.size);
    metrics.defineGauge("swink_runs_active", "Active runs.", () => usage.activeRuns);
  }

  /** Reports an error to the application, whose function must not fail the request. */
  async #report(error: unknown): Promise<void> {
    try {
      // Awaited, since an async function that rejects, as one that writes to a database, would end the process.
      await this.#options.onError?.(getReason(error));
    } catch {
      // The application cannot be notified in another way.
    }
  }
}

/** Returns the error of the application behind one of the server. */
function getReason(error: unknown): unknown {
  const isWrapped = error instanceof ApplicationError || error instanceof RequestFailure;
  return isWrapped ? error.cause ?? error : error;
}

/** Properties of a request that are known while it is handled. */
interface Observed {
  /** The path of its route. */
  route: string;
  /** Headers of its response. */
  headers: Readonly<Record<string, string>>;
}

function createLocalRunner(options: AgentServerOptions): LocalRunner {
  const { store, createAgent, clock = systemClock, pollMs = 2_000, keepEventsMs = 300_000 } =
    options;
  if (!createAgent) throw new TypeError("createAgent is missing");
  return new LocalRunner({ store, createAgent, clock, pollMs, keepEventsMs });
}
