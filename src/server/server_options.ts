/**
 * The options of the server.
 *
 * @module
 */

import { checkFunction } from "../core/checks/check_function.ts";
import { checkNames } from "../core/checks/check_names.ts";
import { checkNumber } from "../core/checks/check_number.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { ignoreRejections, isThenable } from "../core/errors/refuse_promise.ts";
import type { Clock } from "../core/ports/ports.ts";
import type { SessionStore } from "../core/sessions/session.ts";
import type { Authenticate, Caller } from "./access/caller.ts";
import { NUMERIC_LIMITS, type TenantLimits } from "./limits/tenant_limits.ts";
import type { AgentRunner } from "./runner/agent_runner.ts";
import type { CreateAgent } from "./runner/served_agent.ts";

/** Options for `createAgentServer()`. Either `createAgent` or `runner` is required. */
export interface AgentServerOptions {
  /** The sessions of all tenants. */
  readonly store: SessionStore;
  /**
   * Creates the agent for a run, into which the session is restored: a new one for each run. An agent whose `approve`
   * answers `{ type: "pending" }` leaves the decision to the clients. With `{ agent, preparePrompt,
   * [Symbol.asyncDispose] }` it also checks prompts, and releases what belongs to the run.
   */
  readonly createAgent?: CreateAgent | undefined;
  /** Runs the agents, instead of `createAgent` in this process. */
  readonly runner?: AgentRunner | undefined;
  /**
   * Returns the caller with a token, such as `bearerTokens([…])`. Default: only callers on the same machine are accepted,
   * as far as the server reports addresses, and without reverse proxy.
   */
  readonly authenticate?: Authenticate | undefined;
  /** Maximum time for `authenticate`, in milliseconds. Default: 10,000. */
  readonly authenticateTimeoutMs?: number | undefined;
  /** The limits of a tenant, or a function that returns them. */
  readonly limits?: TenantLimits | ((caller: Caller) => TenantLimits) | undefined;
  /**
   * Host names under which the server may be called, with a port if it is not the default one, such as
   * `agents.example.com`. Default: the names of this machine for callers on it, any for others.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may call the server, such as `https://app.example.com`. Default: that of the server. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Whether `/` is a page to watch and use sessions. Default: `true`. */
  readonly page?: boolean | undefined;
  /** Maximum time to receive the body of a request, in milliseconds. Default: 30,000. */
  readonly bodyTimeoutMs?: number | undefined;
  /** Time without events after which a comment keeps a stream open, in milliseconds. Default: 8,000. */
  readonly keepAliveMs?: number | undefined;
  /**
   * Time after which a stream gets the entries that other processes have written, in milliseconds; `Infinity` never.
   * Default: 2,000.
   */
  readonly pollMs?: number | undefined;
  /** Time for which events are kept after a run for clients that connect again, in milliseconds. Default: 300,000. */
  readonly keepEventsMs?: number | undefined;
  /** Called with each error that clients do not get the details of. Default: none. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Port: time and timers. Default: those of the runtime. */
  readonly clock?: Clock | undefined;
  /** Port: creates ids of messages. Default: random UUIDs. */
  readonly newId?: (() => string) | undefined;
}

const NUMBERS = [
  "authenticateTimeoutMs",
  "bodyTimeoutMs",
  "keepAliveMs",
  "pollMs",
  "keepEventsMs",
] as const;

const NAMES: readonly (keyof AgentServerOptions)[] = [
  "store",
  "createAgent",
  "runner",
  "authenticate",
  "limits",
  "allowedHosts",
  "allowedOrigins",
  "page",
  "onError",
  "clock",
  "newId",
  ...NUMBERS,
];

/**
 * Checks the options of untyped callers.
 *
 * @throws {BadRequestError} If an option is missing, unknown or invalid.
 */
export function checkServerOptions(options: AgentServerOptions): void {
  checkObject(options, "Pass options, as { store, createAgent }");
  checkNames(options, NAMES, "createAgentServer()");
  checkObject(options.store, "Pass a store of sessions, such as a FileSessionStore");
  const { createAgent, runner, authenticate, limits, onError, newId } = options;
  if (runner === undefined) checkFunction("createAgent", createAgent);
  else if (createAgent !== undefined) {
    throw new BadRequestError("Pass either createAgent or runner, not both");
  }
  for (const [name, value] of Object.entries({ authenticate, onError, newId })) {
    if (value !== undefined) checkFunction(name, value);
  }
  for (const name of NUMBERS) checkNumber(name, options[name]);
  for (const name of ["allowedHosts", "allowedOrigins"] as const) checkTexts(name, options[name]);
  for (const origin of options.allowedOrigins ?? []) checkOrigin(origin);
  if (typeof limits !== "function") checkLimits(limits);
}

/**
 * Checks the limits of a tenant.
 *
 * @throws {BadRequestError} If one is unknown or invalid.
 */
export function checkLimits(limits: TenantLimits | undefined): void {
  if (limits === undefined) return;
  if (isThenable(limits)) {
    ignoreRejections(limits);
    // A promise has none of the limits.
    throw new BadRequestError("The limits must be an object, not a promise: await it first");
  }
  checkObject(limits, "The limits must be an object, such as { concurrentRuns: 5 }");
  checkNames(limits, [...NUMERIC_LIMITS, "policies"], "limits");
  for (const name of NUMERIC_LIMITS) checkNumber(name, limits[name]);
}

function checkTexts(name: string, values: readonly string[] | undefined): void {
  if (values === undefined) return;
  if (Array.isArray(values) && values.every((value) => typeof value === "string")) return;
  throw new BadRequestError(`${name} must be a list of strings`);
}

function checkOrigin(origin: string): void {
  if (URL.canParse(origin) && new URL(origin).origin === origin) return;
  throw new BadRequestError(
    `allowedOrigins: ${JSON.stringify(origin)} is no origin such as "https://app.example.com"`,
  );
}
