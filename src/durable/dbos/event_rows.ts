/**
 * The events of runs in Postgres.
 *
 * @module
 */

import { isJsonObject } from "../../core/json/json.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type {
  EventPosition,
  EventStorage,
  NewEvent,
  StoredEvent,
} from "../events/event_storage.ts";
import type { ControlConnection } from "./control_connection.ts";
import type { EventTable } from "./run_tables.ts";
import { isUniqueViolation } from "./statement_failures.ts";

const MAX_ATTEMPTS = 20;
/** Maximum length of the ids in a notification, in bytes: Postgres refuses a payload of 8,000. */
const MAX_ID_BYTES = 6_000;
/** Number of ended runs whose events are deleted at once. */
const REMOVED_RUNS = 200;
/** Pause after a conflict with another process, in milliseconds. */
const CONFLICT_PAUSE_MS = 5;

/** Options for {@linkcode EventRows}. */
export interface EventRowsOptions {
  /** The table. */
  readonly table: EventTable;
  /** Id of this worker. */
  readonly executorId: string;
  /** The table of DBOS with the workers that execute the runs. Default: events of all runs are stored. */
  readonly runs?: string | undefined;
  /** The connection. */
  readonly connection: ControlConnection;
  /** Waits. */
  readonly clock: Clock;
}

/** Rows of a table, of which all workers are notified. */
export class EventRows implements EventStorage {
  readonly #options: EventRowsOptions;
  /** The ids of the statements, by their first records: a call that is repeated has the same one. */
  readonly #batches = new WeakMap<NewEvent, string>();

  constructor(options: EventRowsOptions) {
    this.#options = options;
  }

  async append(events: readonly NewEvent[]): Promise<readonly number[]> {
    const [first] = events;
    if (!first) return [];
    const batch = this.#batches.get(first) ?? crypto.randomUUID();
    this.#batches.set(first, batch);
    for (let attempt = 1;; attempt++) {
      try {
        return await this.#append(batch, events);
      } catch (error) {
        // A process that no longer executes the run has appended to it at the same moment.
        if (!isUniqueViolation(error) || attempt === MAX_ATTEMPTS) throw error;
        await this.#options.clock.sleep(CONFLICT_PAUSE_MS);
      }
    }
  }

  async read(
    positions: readonly EventPosition[],
    limit: number,
  ): Promise<ReadonlyMap<string, readonly StoredEvent[]>> {
    const { table, connection } = this.#options;
    const rows = await connection.query(
      `SELECT found.run_id, found.number, found.type, found.key, found.event
       FROM unnest($1::text[], $2::integer[]) AS wanted (run_id, after)
       CROSS JOIN LATERAL (
         SELECT * FROM ${table.name} AS e
         WHERE e.run_id = wanted.run_id AND e.number > wanted.after
         ORDER BY e.number LIMIT $3
       ) AS found
       ORDER BY found.run_id, found.number`,
      [positions.map(({ runId }) => runId), positions.map(({ after }) => after), limit],
    );
    const found = new Map<string, StoredEvent[]>();
    for (const row of rows) {
      const runId = String(row["run_id"]);
      const records = found.get(runId) ?? [];
      found.set(runId, records);
      records.push(parseRow(row));
    }
    return found;
  }

  async findCheckpoint(runId: string): Promise<number> {
    const { table, connection } = this.#options;
    const [row] = await connection.query(
      `SELECT max(number) AS number FROM ${table.name}
       WHERE run_id = $1 AND type = 'checkpoint'`,
      [runId],
    );
    return Math.max(0, Number(row?.["number"] ?? 1) - 1);
  }

  /** Deletes the events of all runs that have ended some time ago, in parts between which other statements run. */
  async removeEnded(keepMs: number, signal?: AbortSignal): Promise<void> {
    const { table, connection } = this.#options;
    for (let removed = REMOVED_RUNS; removed === REMOVED_RUNS && !signal?.aborted;) {
      const [row] = await connection.query(
        `WITH ended AS MATERIALIZED (
           SELECT run_id FROM ${table.name}
           WHERE type = 'end' AND created < now() - $1 * interval '1 millisecond'
           ORDER BY created LIMIT $2 FOR UPDATE SKIP LOCKED
         ), removed AS (
           DELETE FROM ${table.name} WHERE run_id IN (SELECT run_id FROM ended)
         )
         SELECT count(*) AS removed FROM ended`,
        [keepMs, REMOVED_RUNS],
      );
      removed = Number(row?.["removed"]);
    }
  }

  /**
   * Appends records whose numbers follow the last one of their run; those of a run that another worker executes are dropped
   * and have the number 0, since that worker publishes them. A statement that is repeated adds nothing.
   */
  async #append(batch: string, events: readonly NewEvent[]): Promise<readonly number[]> {
    const { table, connection, executorId, runs } = this.#options;
    const isLost = runs === undefined
      ? "$8::text IS NULL"
      : `EXISTS (SELECT 1 FROM ${runs} AS r WHERE r.workflow_uuid = run.run_id AND r.executor_id <> $8)`;
    const counts = new Map<string, number>();
    for (const { runId } of events) counts.set(runId, (counts.get(runId) ?? 0) + 1);
    const rows = await connection.query(
      `WITH input AS (
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
           WITH ORDINALITY AS i (run_id, type, key, event, position)
       ), last AS (
         SELECT run.run_id, coalesce(e.number, 0) AS number, e.batch IS NOT DISTINCT FROM $5 AS is_repeated,
           ${isLost} AS is_lost
         FROM (SELECT DISTINCT run_id FROM input) AS run
         LEFT JOIN LATERAL (
           SELECT number, batch FROM ${table.name} AS e
           WHERE e.run_id = run.run_id ORDER BY number DESC LIMIT 1
         ) AS e ON true
       ), added AS (
         INSERT INTO ${table.name} (run_id, number, batch, type, key, event)
         SELECT run_id, last.number + row_number() OVER (PARTITION BY run_id ORDER BY position),
           $5, type, key, event
         FROM input JOIN last USING (run_id) WHERE NOT last.is_repeated AND NOT last.is_lost
       ), notified AS (
         SELECT count(pg_notify($6, payload)) FROM unnest($7::text[]) AS payload
       )
       SELECT last.* FROM last, notified`,
      [
        events.map(({ runId }) => runId),
        events.map(({ type }) => type),
        events.map((event) => "key" in event ? event.key : null),
        events.map((event) => "event" in event ? JSON.stringify(event.event) : null),
        batch,
        table.channel,
        formatNotifications(executorId, [...counts.keys()]),
        executorId,
      ],
    );
    const stored = rows.filter((row) => row["is_repeated"] === true || row["is_lost"] !== true);
    const next = new Map(stored.map((row): [string, number] => {
      const runId = String(row["run_id"]);
      const added = row["is_repeated"] === true ? counts.get(runId) ?? 0 : 0;
      return [runId, Number(row["number"]) - added];
    }));
    return events.map(({ runId }) => {
      const last = next.get(runId);
      if (last === undefined) return 0;
      next.set(runId, last + 1);
      return last + 1;
    });
  }
}

function parseRow(row: Readonly<Record<string, unknown>>): StoredEvent {
  const number = Number(row["number"]);
  const type = row["type"];
  if (type === "continued" || type === "end") return { number, type };
  return {
    number,
    type: type === "checkpoint" ? "checkpoint" : "event",
    event: JSON.parse(String(row["event"])),
    key: String(row["key"]),
  };
}

/** The runs with new events, and the worker that has published them. */
export interface EventNotification {
  readonly executorId: string;
  readonly runIds: readonly string[];
}

function formatNotifications(executorId: string, runIds: readonly string[]): string[] {
  const parts: string[][] = [];
  let free = 0;
  for (const runId of runIds) {
    const bytes = new TextEncoder().encode(JSON.stringify(runId)).length + 1;
    if (bytes > free) {
      parts.push([]);
      free = MAX_ID_BYTES;
    }
    parts.at(-1)?.push(runId);
    free -= bytes;
  }
  return parts.map((part) =>
    JSON.stringify({ executorId, runIds: part } satisfies EventNotification)
  );
}

/** Parses a notification; `undefined` if it is none: every role of the database may send one. */
export function parseNotification(payload: string): EventNotification | undefined {
  try {
    const parsed: unknown = JSON.parse(payload);
    if (!isJsonObject(parsed)) return undefined;
    const { executorId, runIds } = parsed;
    if (typeof executorId !== "string" || !Array.isArray(runIds)) return undefined;
    const isComplete = runIds.every((id) => typeof id === "string");
    return isComplete ? { executorId, runIds: runIds.map(String) } : undefined;
  } catch {
    return undefined;
  }
}
