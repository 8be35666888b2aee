/**
 * Reports the health of the server.
 *
 * @module
 */

import { startTimer } from "../../core/ports/start_timer.ts";
import { createFailure } from "../http/problem.ts";
import { type Call, type Handle, respond, type Services } from "./call.ts";

/** Time for which the state of the store is not asked for again, in milliseconds. */
const CHECK_INTERVAL_MS = 2_000;

/** Maximum time for an answer of the store, in milliseconds. */
const CHECK_TIMEOUT_MS = 5_000;

/** Reports that the process runs. */
export function getHealth(): Response {
  return respond({ status: "ok" });
}

/** Creates the operation that reports whether requests can be handled. */
export function createReadiness(): Handle {
  let last: { readonly time: number; readonly isReachable: Promise<boolean> } | undefined;
  return async (_call, services) => {
    if (services.isClosing()) return respond({ status: "shutting_down" }, 503);
    const time = services.clock.now();
    if (!last || Math.abs(time - last.time) >= CHECK_INTERVAL_MS) {
      last = { time, isReachable: isReachable(services) };
    }
    return await last.isReachable
      ? respond({ status: "ready" })
      : respond({ status: "storage_failed" }, 503);
  };
}

async function isReachable({ store, clock }: Services): Promise<boolean> {
  return await new Promise((resolve) => {
    const stopTimer = startTimer(clock, CHECK_TIMEOUT_MS, () => resolve(false));
    store.list({ limit: 1 }).then(() => resolve(true), () => resolve(false)).finally(stopTimer);
  });
}

/** Returns the metrics of all tenants. */
export function getMetrics({ caller }: Call, { metrics }: Services): Response {
  if (!caller.mayReadMetrics) {
    throw createFailure("forbidden", "The token does not have the right to read metrics");
  }
  return new Response(metrics.format(), {
    headers: {
      "content-type": "text/plain; version=0.0.4; charset=utf-8",
      "cache-control": "no-store",
    },
  });
}
