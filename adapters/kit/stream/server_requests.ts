/**
 * Requests of server tools within a reply, for which providers charge fees.
 *
 * @module
 */

import type { Usage } from "../../../src/core/models/usage.ts";

/** Name of a count in `Usage.extra` that has a fee, such as `webSearchRequests`. */
export type RequestName = `${string}Requests`;

/** Counts the requests of server tools in one reply, whose fees are in the `requests` of the rates of its model. */
export class ServerRequests {
  readonly #counts = new Map<RequestName, number>();

  /** Adds requests. */
  add(name: RequestName, count = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }

  /** Sets the number of requests, which a provider reports as a sum. */
  set(name: RequestName, count: number): void {
    this.#counts.set(name, count);
  }

  /** Returns a usage with the counts above 0. */
  addTo(usage: Usage): Usage {
    const counts = [...this.#counts].filter(([, count]) => count > 0);
    if (counts.length === 0) return usage;
    return { ...usage, extra: { ...usage.extra, ...Object.fromEntries(counts) } };
  }
}
