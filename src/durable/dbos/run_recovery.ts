/**
 * The runs that a worker continues: those of workers that have ended, and its own that it does not execute.
 *
 * @module
 */

import { systemClock } from "../../core/ports/ports.ts";
import type { ControlConnection } from "./control_connection.ts";
import type { EventRows } from "./event_rows.ts";
import { LeftRuns } from "./left_runs.ts";
import type { Dbos } from "./npm_packages.ts";
import { runOutside } from "./run_outside.ts";
import type { DeadWorker, RunTables } from "./run_tables.ts";

/** Number of pauses after a connect in which other workers may connect again too. */
const RECONNECT_PAUSES = 3;
/** Pauses between two looks for runs that are owned and not executed, in milliseconds: usually, and after one was found. */
const RECONCILE_MS = 30_000;
const RECONCILE_PAUSE_MS = 3_000;

/** Options for {@linkcode RunRecovery}. */
export interface RunRecoveryOptions {
  /** Id of this worker. */
  readonly executorId: string;
  /** The tables of the engine. */
  readonly tables: RunTables;
  /** The connection whose locks show that this worker lives. */
  readonly connection: ControlConnection;
  /** The events of the runs. */
  readonly events: EventRows;
  /** Pause between two looks for workers that have ended, in milliseconds. */
  readonly recoveryMs: number;
  /** Time for which the events of a run are kept after its end, in milliseconds. */
  readonly keepEventsMs: number;
  /** Whether this worker executes a run now. */
  readonly isActive: (runId: string) => boolean;
  /** Whether this worker can execute a workflow. */
  readonly hasWorkflow: (name: string) => boolean;
  /** Calls DBOS, again while Postgres cannot be reached. */
  readonly call: <Value>(call: () => Promise<Value>) => Promise<Value>;
}

/** Resumes runs that no worker executes, and deletes what is left of those that have ended. */
export class RunRecovery {
  readonly #options: RunRecoveryOptions;
  readonly #left: LeftRuns;
  /** Time of the next look for runs that this worker owns and does not execute. */
  #reconcileAt = 0;
  /** The runs that it did not execute at the last look. */
  #idle = new Set<string>();

  constructor(options: RunRecoveryOptions) {
    this.#options = options;
    this.#left = new LeftRuns(options.tables, options.connection);
  }

  /** Lets the next pass look for runs that this worker owns and does not execute. */
  requestReconcile(): void {
    this.#reconcileAt = 0;
  }

  /** Makes passes until the signal aborts. Never rejects. */
  async run(dbos: Dbos, signal: AbortSignal): Promise<void> {
    const { connection, recoveryMs } = this.#options;
    while (!signal.aborted) {
      await systemClock.sleep(recoveryMs, signal);
      const { connectedAt } = connection;
      // After a restart of Postgres, the other workers need time to take their locks again.
      const isRecent = systemClock.now() - connectedAt < RECONNECT_PAUSES * recoveryMs;
      if (signal.aborted || connectedAt === 0 || isRecent) continue;
      await this.#recover(dbos).catch(() => {});
      if (systemClock.now() < this.#reconcileAt) continue;
      this.#reconcileAt = systemClock.now() + RECONCILE_MS;
      await this.#reconcile(dbos).catch(() => {});
      await this.#removeEnded(dbos, signal);
    }
  }

  async #removeEnded(dbos: Dbos, signal: AbortSignal): Promise<void> {
    const { events, tables, connection, keepEventsMs, call } = this.#options;
    const listRuns: Dbos["listWorkflows"] = (filter) => call(() => dbos.listWorkflows(filter));
    await events.removeEnded(keepEventsMs, signal).catch(() => {});
    await tables.removeClosed(connection, keepEventsMs).catch(() => {});
    await this.#left.remove(listRuns, keepEventsMs).catch(() => {});
  }

  /**
   * Resumes the runs that this worker owns and does not execute. DBOS leaves such a run when it cannot record its outcome,
   * as when a connection ends at that moment. One that begins or ends now is not in two passes.
   */
  async #reconcile(dbos: Dbos): Promise<void> {
    const { executorId, isActive, call } = this.#options;
    const filter = { status: "PENDING", executorId, loadInput: false, loadOutput: false };
    const runs = await call(() => dbos.listWorkflows(filter));
    const idle = runs.map(({ workflowID }) => workflowID).filter((id) => !isActive(id));
    const orphans = idle.filter((id) => this.#idle.has(id));
    this.#idle = new Set(idle);
    if (idle.length > 0) this.#reconcileAt = systemClock.now() + RECONCILE_PAUSE_MS;
    if (orphans.length > 0) await call(() => dbos.resumeWorkflows(orphans));
  }

  /** Continues the runs of workers that have ended. */
  async #recover(dbos: Dbos): Promise<void> {
    const { tables, connection, executorId } = this.#options;
    for (const worker of await tables.lockDeadWorkers(connection, executorId)) {
      let isEmpty = false;
      try {
        isEmpty = await this.#takeOver(dbos, worker);
      } finally {
        await tables.unlockWorker(connection, worker, { isEmpty });
      }
    }
  }

  /** Resumes the runs of a worker; returns whether none is left that only others can continue. */
  async #takeOver(dbos: Dbos, { executorId }: DeadWorker): Promise<boolean> {
    const filter = { status: "PENDING", executorId, loadInput: false, loadOutput: false };
    const runs = await runOutside(() => dbos.listWorkflows(filter));
    const known = runs.filter(({ workflowName }) => this.#options.hasWorkflow(workflowName));
    const ids = known.map(({ workflowID }) => workflowID);
    if (ids.length > 0) await runOutside(() => dbos.resumeWorkflows(ids));
    return known.length === runs.length;
  }
}
