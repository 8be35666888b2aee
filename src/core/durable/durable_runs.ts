/**
 * The runs of durable agents that this process executes.
 *
 * @module
 */

const ids = new Set<string>();

/** Notes that a durable run is executed. */
export function addDurableRun(runId: string): void {
  ids.add(runId);
}

/** Notes the end of a durable run. */
export function removeDurableRun(runId: string): void {
  ids.delete(runId);
}

/** Whether a run that has not ended is durable: it may be executed again under the same id, also after its end. */
export function isDurableRun(runId: string): boolean {
  return ids.has(runId);
}
