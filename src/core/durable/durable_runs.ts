/**
 * The runs of durable agents that this process executes.
 *
 * @module
 */

/** A durable run, which several executions may have. */
interface ActiveRun {
  readonly key: string;
  readonly executions: number;
}

const runs = new Map<string, ActiveRun>();

/**
 * Notes that a durable run is executed. Its key is the same in each execution; that of another run which gets the same id
 * later is another one.
 */
export function addDurableRun(runId: string, key: string): void {
  const active = runs.get(runId);
  const executions = active?.key === key ? active.executions + 1 : 1;
  runs.set(runId, { key, executions });
}

/** Notes the end of an execution of a durable run. */
export function removeDurableRun(runId: string, key: string): void {
  const active = runs.get(runId);
  if (active?.key !== key) return;
  if (active.executions === 1) runs.delete(runId);
  else runs.set(runId, { key, executions: active.executions - 1 });
}

/**
 * Returns the key of a run that has not ended, if it is durable: it may be executed again under the same id, also after its
 * end.
 */
export function getDurableRunKey(runId: string): string | undefined {
  return runs.get(runId)?.key;
}
