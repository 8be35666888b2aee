/**
 * The events and messages that are left of runs that DBOS has ended.
 *
 * @module
 */

import { systemClock } from "../../core/ports/ports.ts";
import type { ControlConnection } from "./control_connection.ts";
import type { Dbos } from "./npm_packages.ts";
import type { RunTables } from "./run_tables.ts";
import { toDurableStatus } from "./to_durable_status.ts";

/** Number of runs whose end is looked up at once. */
const LOOKED_UP = 1_000;

/** Deletes the events and messages of runs that DBOS has ended, by a cancellation or a deletion. */
export class LeftRuns {
  readonly #tables: RunTables;
  readonly #connection: ControlConnection;
  /** The last run whose end was looked up, in the order of their ids. */
  #lookedUntil = "";

  constructor(tables: RunTables, connection: ControlConnection) {
    this.#tables = tables;
    this.#connection = connection;
  }

  /** Deletes those of some runs with each call. */
  async remove(listRuns: Dbos["listWorkflows"], keepMs: number): Promise<void> {
    const page = { after: this.#lookedUntil, limit: LOOKED_UP };
    const runIds = await this.#tables.listRuns(this.#connection, page);
    this.#lookedUntil = runIds.length < LOOKED_UP ? "" : runIds.at(-1) ?? "";
    if (runIds.length === 0) return;
    const before = systemClock.now() - keepMs;
    const runs = await listRuns({ workflowIDs: runIds, loadInput: false, loadOutput: false });
    const kept = runs.filter((run) =>
      toDurableStatus(run) === "running" || (run.updatedAt ?? 0) > before
    );
    const keptIds = new Set(kept.map(({ workflowID }) => workflowID));
    const ended = runIds.filter((id) => !keptIds.has(id));
    if (ended.length > 0) await this.#tables.removeRuns(this.#connection, ended, keepMs);
  }
}
