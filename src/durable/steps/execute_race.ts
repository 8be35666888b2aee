/**
 * Executes the operations of a race.
 *
 * @module
 */

import type { RaceWinner, StepContext, StepOperation } from "../../core/durable/durable_steps.ts";

/** Executes operations until the first has ended, and aborts the others. */
export async function executeRace<Value>(
  operations: readonly StepOperation<Value>[],
  { signal }: StepContext,
): Promise<RaceWinner<Value>> {
  const others = new AbortController();
  const abort = () => others.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race(operations.map(async ({ execute }, index) => {
      const value = await execute({ signal: others.signal });
      return { index, value };
    }));
  } finally {
    signal.removeEventListener("abort", abort);
    others.abort();
  }
}
