/**
 * The use that the tenants make of their limits.
 *
 * @module
 */

import { createFailure } from "../http/problem.ts";
import type { ResolvedLimits } from "./tenant_limits.ts";

/** The use of one tenant. */
interface Usage {
  runs: number;
  streams: number;
  /** Number of requests that may be made at once. */
  requests: number;
  /** Time of the last request, in milliseconds. */
  lastRequest: number;
}

const MINUTE = 60_000;

/** Number of idle tenants that are kept; their usage is that of a new one after a minute. */
const MAX_IDLE = 10_000;

/** Counts the requests, the runs and the event streams of each tenant. */
export class TenantUsage {
  readonly #now: () => number;
  readonly #tenants = new Map<string, Usage>();

  /** Creates a count; `now` returns the time in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Number of active runs of all tenants. */
  get activeRuns(): number {
    let sum = 0;
    for (const { runs } of this.#tenants.values()) sum += runs;
    return sum;
  }

  /** Counts a request; throws a `RequestFailure` if the tenant has made too many. */
  addRequest(tenant: string | undefined, { requestsPerMinute }: ResolvedLimits): void {
    const usage = this.#get(tenant, requestsPerMinute);
    const now = this.#now();
    // A clock that is set back adds nothing.
    const elapsed = Math.max(0, now - usage.lastRequest);
    usage.requests = Math.min(
      requestsPerMinute,
      usage.requests + elapsed * requestsPerMinute / MINUTE,
    );
    usage.lastRequest = now;
    if (usage.requests < 1) {
      const retryAfterMs = requestsPerMinute > 0
        ? Math.ceil((1 - usage.requests) * MINUTE / requestsPerMinute)
        : MINUTE;
      throw createFailure(
        "too_many_requests",
        `More than ${requestsPerMinute} requests in a minute: try again later`,
        { retryAfterMs },
      );
    }
    usage.requests--;
  }

  /** Reserves a run until the returned function is called; throws a `RequestFailure` if there are too many. */
  startRun(tenant: string | undefined, limits: ResolvedLimits): () => void {
    const usage = this.#get(tenant, limits.requestsPerMinute);
    if (usage.runs >= limits.concurrentRuns) {
      throw createFailure(
        "too_many_runs",
        `${limits.concurrentRuns} runs are active: wait until one has ended, or abort one`,
        { retryAfterMs: 1000 },
      );
    }
    usage.runs++;
    return once(() => usage.runs--);
  }

  /** Reserves an event stream until the returned function is called; throws a `RequestFailure` if there are too many. */
  openStream(tenant: string | undefined, limits: ResolvedLimits): () => void {
    const usage = this.#get(tenant, limits.requestsPerMinute);
    if (usage.streams >= limits.eventStreams) {
      throw createFailure(
        "too_many_streams",
        `${limits.eventStreams} event streams are open: close one first`,
        { retryAfterMs: 1000 },
      );
    }
    usage.streams++;
    return once(() => usage.streams--);
  }

  #get(tenant: string | undefined, requests: number): Usage {
    // A tenant without a name differs from one with an empty name.
    const key = tenant === undefined ? "" : `=${tenant}`;
    const known = this.#tenants.get(key);
    if (known) return known;
    if (this.#tenants.size >= MAX_IDLE) this.#removeIdle();
    const usage = { runs: 0, streams: 0, requests, lastRequest: this.#now() };
    this.#tenants.set(key, usage);
    return usage;
  }

  #removeIdle(): void {
    const before = this.#now() - MINUTE;
    for (const [key, { runs, streams, lastRequest }] of this.#tenants) {
      if (runs + streams === 0 && lastRequest <= before) this.#tenants.delete(key);
    }
  }
}

function once(release: () => void): () => void {
  let isReleased = false;
  return () => {
    if (!isReleased) release();
    isReleased = true;
  };
}
