/**
 * A request that was accepted.
 *
 * @module
 */

import type { JsonObject } from "../../core/json/json.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { SessionStore } from "../../core/sessions/session.ts";
import type { Caller } from "../access/caller.ts";
import type { EventStreams } from "../events/event_streams.ts";
import { createFailure } from "../http/problem.ts";
import { readBody } from "../http/read_body.ts";
import type { ResolvedLimits } from "../limits/tenant_limits.ts";
import type { TenantUsage } from "../limits/tenant_usage.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { type SchemaName, SCHEMAS } from "../openapi/schemas.ts";
import type { AgentRunner, SessionKey } from "../runner/agent_runner.ts";
import type { KeyedQueue } from "../runner/keyed_queue.ts";

/** The parts of the server that its operations use. */
export interface Services {
  /** The sessions of all tenants. */
  readonly store: SessionStore;
  /** Runs the agents. */
  readonly runner: AgentRunner;
  /** The use that the tenants make of their limits. */
  readonly usage: TenantUsage;
  /** Creates the sessions of each caller one after the other, where their number is limited. */
  readonly creations: KeyedQueue;
  /** The metrics. */
  readonly metrics: Metrics;
  /** The event streams. */
  readonly streams: EventStreams;
  /** Time and timers. */
  readonly clock: Clock;
  /** Creates an id for a message. */
  readonly newId: () => string;
  /** Maximum time to receive the body of a request, in milliseconds. */
  readonly bodyTimeoutMs: number;
  /** Whether the server is shutting down. */
  readonly isClosing: () => boolean;
  /** Called with errors that are not those of a caller. */
  readonly onError: (error: unknown) => void;
}

/** A request of a caller. */
export interface Call {
  /** The request. */
  readonly request: Request;
  /** Its URL. */
  readonly url: URL;
  /** The parameters of the path. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The caller. */
  readonly caller: Caller;
  /** The limits of its tenant. */
  readonly limits: ResolvedLimits;
  /** The caller's part of the store. */
  readonly store: SessionStore;
}

/** Handles a request. Rejects with a `RequestFailure` or an `AgentError`. */
export type Handle = (call: Call, services: Services) => Response | Promise<Response>;

/** Returns the session that the path names. */
export function getSessionKey(
  { parameters: { id = "" }, caller: { tenant, user } }: Call,
): SessionKey {
  return { id, ...(tenant !== undefined && { tenant }), ...(user !== undefined && { user }) };
}

/** Reads the body of a request. */
export async function readCallBody(
  { request, limits }: Call,
  schema: SchemaName,
  { bodyTimeoutMs: timeoutMs, clock }: Services,
): Promise<{ readonly text: string; readonly value: JsonObject }> {
  return await readBody(request, SCHEMAS[schema], {
    maxBytes: limits.maxBodyBytes,
    timeoutMs,
    clock,
  });
}

/** Returns a parameter of the query that is a whole number between limits. */
export function getInteger(
  { url }: Call,
  name: string,
  { fallback, minimum, maximum }: {
    readonly fallback: number;
    readonly minimum: number;
    readonly maximum: number;
  },
): number {
  const text = url.searchParams.get(name);
  if (text === null) return fallback;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= minimum && value <= maximum) return value;
  throw createFailure(
    "bad_request",
    `${name} must be a whole number from ${minimum} to ${maximum}`,
  );
}

/** Creates a response with JSON. */
export function respond(value: object, status = 200): Response {
  return Response.json(value, { status, headers: { "cache-control": "no-store" } });
}
