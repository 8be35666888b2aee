/**
 * The tables of the engine: messages to runs, and the workers.
 *
 * @module
 */

import type { ReceivedMessage, RunMessage } from "../../core/durable/durable_steps.ts";
import { EngineClosedError } from "../../core/durable/engine_closed_error.ts";
import { BadRequestError, StreamError } from "../../core/errors/errors.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { ControlConnection } from "./control_connection.ts";
import type { PgClient } from "./npm_packages.ts";
import { isUniqueViolation } from "./statement_failures.ts";

/** Number of attempts to append a message while others are appended to the same run. */
const MAX_ATTEMPTS = 100;
/** Pause before a lock is tried again, in milliseconds. */
const LOCK_PAUSE_MS = 50;
/** Key of the row after the last message that a run accepts. */
const CLOSED = "closed";

/** The table of the events. */
export interface EventTable {
  /** Its name. */
  readonly name: string;
  /** The channel that is notified of new events. */
  readonly channel: string;
}

/** A worker whose process has ended. */
export interface DeadWorker {
  /** Id of its executor. */
  readonly executorId: string;
}

/** The tables, in a schema of their own. */
export class RunTables {
  readonly #schema: string;
  readonly #application: string;
  /** The process of Postgres that has served the last connection. */
  #backend: unknown;

  /**
   * Creates the tables of a schema; applications share the tables, but not their workers.
   *
   * @throws {BadRequestError} If the name of the schema is not made of lower-case letters, digits and `_`.
   */
  constructor(schema: string, application: string) {
    if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema)) {
      throw new BadRequestError(
        "The name of a schema must have 1 to 50 lower-case letters, digits and _",
      );
    }
    this.#schema = schema;
    this.#application = application;
  }

  /** The channel that is notified with the id of a run when a message to it is recorded. */
  get channel(): string {
    return `${this.#schema}_messages`;
  }

  /** The tables of the events. */
  get events(): EventTable {
    return { name: `${this.#schema}.events`, channel: `${this.#schema}_events` };
  }

  /** Creates the tables, and takes the lock of the worker on this connection. */
  async setUp(query: PgClient["query"], executorId: string): Promise<void> {
    // Two processes that create the same schema at once would fail without the lock.
    await query(`BEGIN;
      SELECT pg_advisory_xact_lock(hashtextextended('${this.#schema} tables', 0));
      CREATE SCHEMA IF NOT EXISTS ${this.#schema};
      CREATE TABLE IF NOT EXISTS ${this.#schema}.messages (
        run_id text NOT NULL,
        number integer NOT NULL,
        key text NOT NULL,
        message text NOT NULL,
        created timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (run_id, number),
        UNIQUE (run_id, key)
      );
      CREATE TABLE IF NOT EXISTS ${this.#schema}.workers (
        executor_id text PRIMARY KEY,
        created timestamptz NOT NULL DEFAULT now()
      );
      ALTER TABLE ${this.#schema}.workers
        ADD COLUMN IF NOT EXISTS application text NOT NULL DEFAULT 'swink';
      CREATE TABLE IF NOT EXISTS ${this.events.name} (
        run_id text NOT NULL,
        number integer NOT NULL,
        batch text NOT NULL,
        type text NOT NULL,
        key text,
        event text,
        created timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (run_id, number)
      );
      CREATE INDEX IF NOT EXISTS events_end ON ${this.events.name} (created) WHERE type = 'end';
      CREATE INDEX IF NOT EXISTS events_checkpoint ON ${this.events.name} (run_id, number)
        WHERE type = 'checkpoint';
      COMMIT`);
    await query(`LISTEN ${this.channel}; LISTEN ${this.events.channel}`);
    const lock = this.#getLock(executorId);
    // Postgres may take hours to notice that a connection is lost; the lock of this worker must not wait for that.
    await query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks
       WHERE pid = $1::integer AND pid <> pg_backend_pid() AND granted AND locktype = 'advisory' AND objsubid = 1
         AND ((classid::bigint << 32) | objid::bigint) = hashtextextended($2, 0)`,
      [this.#backend ?? null, lock],
    );
    const { rows: [locked] } = await query(
      "SELECT pg_advisory_lock(hashtextextended($1, 0)), pg_backend_pid() AS pid",
      [lock],
    );
    this.#backend = locked?.["pid"];
    await query(
      `INSERT INTO ${this.#schema}.workers (executor_id, application) VALUES ($1, $2)
       ON CONFLICT DO NOTHING`,
      [executorId, this.#application],
    );
  }

  /**
   * Calls a function while no other worker does. The lock is tried again and again: a statement that waits for it would be
   * one that `CREATE INDEX CONCURRENTLY` of another worker waits for. Does not call it if the signal aborts before.
   *
   * @throws {EngineClosedError} If the signal aborts before it has the lock.
   */
  async runAlone<Value>(
    connection: ControlConnection,
    { sleep, signal }: Pick<Clock, "sleep"> & { readonly signal: AbortSignal },
    call: () => Promise<Value>,
  ): Promise<Value> {
    const lock = [`${this.#schema} launch`];
    while (true) {
      if (signal.aborted) throw new EngineClosedError();
      const rows = await connection.query(
        "SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS locked",
        lock,
      );
      if (rows[0]?.["locked"] === true) break;
      await sleep(LOCK_PAUSE_MS, signal);
    }
    try {
      return await call();
    } finally {
      await connection.query("SELECT pg_advisory_unlock(hashtextextended($1, 0))", lock);
    }
  }

  /** Records a message and notifies the worker of its run; returns `false` if the run accepts no further one. */
  async appendMessage(
    connection: ControlConnection,
    runId: string,
    message: RunMessage,
  ): Promise<boolean> {
    const key = crypto.randomUUID();
    const values = [runId, key, JSON.stringify(message), this.channel, CLOSED];
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      try {
        const [row] = await connection.query(
          `WITH known AS (
             SELECT coalesce(max(number), 0) + 1 AS next, coalesce(bool_or(key = $5), false) AS is_closed
             FROM ${this.#schema}.messages WHERE run_id = $1
           ), added AS (
             INSERT INTO ${this.#schema}.messages (run_id, number, key, message)
             SELECT $1, next, $2, $3 FROM known WHERE NOT is_closed
             ON CONFLICT (run_id, key) DO NOTHING
           )
           SELECT is_closed, pg_notify($4, $1) FROM known`,
          values,
        );
        return row?.["is_closed"] !== true || await this.#hasMessage(connection, runId, key);
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
      }
    }
    throw new StreamError(`Too many messages are sent to the run "${runId}" at once`);
  }

  /** Whether a message was recorded, by a statement whose answer was lost. */
  async #hasMessage(connection: ControlConnection, runId: string, key: string): Promise<boolean> {
    const rows = await connection.query(
      `SELECT 1 FROM ${this.#schema}.messages WHERE run_id = $1 AND key = $2`,
      [runId, key],
    );
    return rows.length > 0;
  }

  /** Lets no message follow the one with the number `last`; returns `false` if there are some already. */
  async closeInbox(connection: ControlConnection, runId: string, last: number): Promise<boolean> {
    const values = [runId, last, CLOSED];
    await connection.query(
      `INSERT INTO ${this.#schema}.messages (run_id, number, key, message)
       SELECT $1, $2::integer + 1, $3, 'null'
       WHERE NOT EXISTS (
         SELECT 1 FROM ${this.#schema}.messages WHERE run_id = $1 AND number > $2
       )
       ON CONFLICT DO NOTHING`,
      values,
    );
    const rows = await connection.query(
      `SELECT 1 FROM ${this.#schema}.messages
       WHERE run_id = $1 AND number = $2::integer + 1 AND key = $3`,
      values,
    );
    return rows.length > 0;
  }

  /** Returns the messages of runs whose number is above `after`, in order. */
  async readMessages(
    connection: ControlConnection,
    runId: string,
    after: number,
  ): Promise<ReceivedMessage[]> {
    const rows = await connection.query(
      `SELECT number, message FROM ${this.#schema}.messages
       WHERE run_id = $1 AND number > $2 AND key <> $3 ORDER BY number`,
      [runId, after, CLOSED],
    );
    return rows.map(({ number, message }) => ({
      number: Number(number),
      message: JSON.parse(String(message)),
    }));
  }

  /** Deletes the messages of a run that has ended; it still refuses further ones. */
  async deleteMessages(connection: ControlConnection, runId: string): Promise<void> {
    await connection.query(
      `DELETE FROM ${this.#schema}.messages WHERE run_id = $1 AND key <> $2`,
      [runId, CLOSED],
    );
  }

  /** Deletes what is left of runs that have ended some time ago. */
  async removeClosed(connection: ControlConnection, keepMs: number): Promise<void> {
    await connection.query(
      `DELETE FROM ${this.#schema}.messages
       WHERE key = $1 AND created < now() - $2 * interval '1 millisecond'`,
      [CLOSED, keepMs],
    );
  }

  /** Returns the ids of the runs that have events or messages and follow an id, in order. */
  async listRuns(
    connection: ControlConnection,
    { after, limit }: { readonly after: string; readonly limit: number },
  ): Promise<string[]> {
    // One look into an index for each run, however many rows it has.
    const next = (id: string) =>
      `least((SELECT min(run_id) FROM ${this.events.name} WHERE run_id > ${id}),
         (SELECT min(run_id) FROM ${this.#schema}.messages WHERE run_id > ${id}))`;
    const rows = await connection.query(
      `WITH RECURSIVE found (run_id) AS (
         SELECT ${next("$1")}
         UNION ALL
         SELECT ${next("found.run_id")} FROM found WHERE found.run_id IS NOT NULL
       )
       SELECT run_id FROM found WHERE run_id IS NOT NULL LIMIT $2`,
      [after, limit],
    );
    return rows.map(({ run_id }) => String(run_id));
  }

  /** Deletes the events and messages of runs that have ended, apart from those with newer ones. */
  async removeRuns(
    connection: ControlConnection,
    runIds: readonly string[],
    keepMs: number,
  ): Promise<void> {
    const { events: { name: events } } = this;
    const messages = `${this.#schema}.messages`;
    await connection.query(
      `WITH ended AS MATERIALIZED (
         SELECT run_id FROM (
           SELECT run_id, created FROM ${events} WHERE run_id = ANY($1)
           UNION ALL SELECT run_id, created FROM ${messages} WHERE run_id = ANY($1)
         ) AS kept
         GROUP BY run_id HAVING max(created) < now() - $2 * interval '1 millisecond'
       ), removed AS (
         DELETE FROM ${events} WHERE run_id IN (SELECT run_id FROM ended)
       )
       DELETE FROM ${messages} WHERE run_id IN (SELECT run_id FROM ended)`,
      [runIds, keepMs],
    );
  }

  /** Locks the other workers of the application whose processes have ended, so that no other one continues their runs. */
  async lockDeadWorkers(connection: ControlConnection, own: string): Promise<DeadWorker[]> {
    const rows = await connection.query(
      `WITH others AS MATERIALIZED (
         SELECT executor_id FROM ${this.#schema}.workers
         WHERE executor_id <> $1 AND application = $3
       )
       SELECT executor_id FROM others
       WHERE pg_try_advisory_lock(hashtextextended($2 || executor_id, 0))`,
      [own, this.#getLock(""), this.#application],
    );
    return rows.map(({ executor_id }) => ({ executorId: String(executor_id) }));
  }

  /** Releases the lock of a worker; removes it if none of its runs is left. */
  async unlockWorker(
    connection: ControlConnection,
    { executorId }: DeadWorker,
    { isEmpty }: { readonly isEmpty: boolean },
  ): Promise<void> {
    if (isEmpty) {
      await connection.query(`DELETE FROM ${this.#schema}.workers WHERE executor_id = $1`, [
        executorId,
      ]);
    }
    await connection.query("SELECT pg_advisory_unlock(hashtextextended($1, 0))", [
      this.#getLock(executorId),
    ]);
  }

  #getLock(executorId: string): string {
    return `${this.#schema} worker ${executorId}`;
  }
}
