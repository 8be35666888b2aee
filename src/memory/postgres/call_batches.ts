/**
 * Joins calls of functions in the database into one statement while other statements are under way.
 *
 * A call that arrives alone is sent at once. Under load, a round trip and a commit serve many sessions.
 *
 * @module
 */

import { createDeferred, type Deferred } from "../../core/ports/deferred.ts";
import { type PostgresDatabase, StatementError } from "./postgres_database.ts";

/** Maximum number of statements under way. */
const MAX_STATEMENTS = 2;
/** Maximum number of calls in a statement. */
const MAX_CALLS = 64;
/**
 * Maximum length of the calls in a statement, in UTF-16 code units; a single call may be longer. Postgres ends a connection
 * that sends more than 1 GB at once, and the calls of other sessions would fail with the long one.
 */
const MAX_LENGTH = 16 * 1024 * 1024;

/**
 * Time for which a statement waits for a row that another client has locked, in milliseconds. A call that needs longer waits
 * in a statement of its own, so that it does not delay those of other sessions.
 */
const LOCK_TIMEOUT_MS = 200;
/** Maximum number of statements that wait longer. */
const MAX_WAITING = 2;
/** SQLSTATE code of a statement that has waited for too long. */
const LOCK_NOT_AVAILABLE = "55P03";

/** The result of a call. */
export interface CallResult {
  /** The value that the function returned. */
  readonly value: unknown;
}

/** A call of a function that changes one session, and that may be executed twice. */
export interface SessionCall {
  /** Name of the function, quoted for SQL. */
  readonly functionName: string;
  /** Id of the session. */
  readonly id: string;
  /** Arguments. */
  readonly values: readonly unknown[];
  /** About the length of the arguments, in UTF-16 code units. Default: 0. */
  readonly length?: number;
}

interface PendingCall extends SessionCall {
  readonly result: Deferred<CallResult>;
}

/** Calls that are joined with each other. */
export class CallBatches {
  readonly #database: PostgresDatabase;
  #pending: PendingCall[] = [];
  #statements = 0;
  /** Calls that wait for locked rows. */
  #blocked: PendingCall[] = [];
  #waiting = 0;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  /** Calls a function for a session. */
  call(call: SessionCall): Promise<CallResult> {
    const result = createDeferred<CallResult>();
    this.#pending.push({ ...call, result });
    this.#dispatch();
    return result.promise;
  }

  #dispatch(): void {
    while (this.#statements < MAX_STATEMENTS && this.#pending.length > 0) {
      // In one order in all processes, so that statements cannot wait for each other's sessions.
      const calls = this.#takeCalls().sort(compareIds);
      this.#statements++;
      this.#execute(calls).finally(() => {
        this.#statements--;
        this.#dispatch();
      });
    }
  }

  /** Removes the calls of the next statement from the pending ones. */
  #takeCalls(): PendingCall[] {
    let length = 0;
    const end = this.#pending.findIndex((call, index) => {
      length += call.length ?? 0;
      return index === MAX_CALLS || index > 0 && length > MAX_LENGTH;
    });
    return this.#pending.splice(0, end < 0 ? Infinity : end);
  }

  /** Sends the calls that wait for locked rows, each in a statement of its own. */
  #dispatchBlocked(): void {
    while (this.#waiting < MAX_WAITING) {
      const call = this.#blocked.shift();
      if (!call) return;
      this.#waiting++;
      this.#send([call]).catch((error) => call.result.reject(error)).finally(() => {
        this.#waiting--;
        this.#dispatchBlocked();
      });
    }
  }

  /** Executes calls in one statement. Never rejects. */
  async #execute(calls: readonly PendingCall[]): Promise<void> {
    try {
      await this.#send(calls, [`set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true)`]);
    } catch (error) {
      const code = error instanceof StatementError && error.failure.type === "refused"
        ? error.failure.code
        : undefined;
      if (code !== undefined && calls.length > 1) {
        // The server may have refused one of the calls.
        await Promise.all(calls.map((call) => this.#execute([call])));
      } else if (code === LOCK_NOT_AVAILABLE) {
        this.#blocked.push(...calls);
        this.#dispatchBlocked();
      } else {
        for (const { result } of calls) result.reject(error);
      }
    }
  }

  /** Sends calls in one statement, after other functions of the server. */
  async #send(calls: readonly PendingCall[], functions: readonly string[] = []): Promise<void> {
    const values: unknown[] = [];
    const columns = calls.map((call, column) => {
      const placeholders = call.values.map((value) => `$${values.push(value)}`);
      return `${call.functionName}(${placeholders.join(", ")}) AS call_${column}`;
    });
    const text = `SELECT ${[...functions, ...columns].join(", ")}`;
    const { rows } = await this.#database.query(text, values);
    for (const [column, { result }] of calls.entries()) {
      result.resolve({ value: rows[0]?.[`call_${column}`] });
    }
  }
}

function compareIds(left: PendingCall, right: PendingCall): number {
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0;
}
