/**
 * The Postgres database of sessions. The storage runs statements only through this module.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import {
  createPool,
  type PostgresClient,
  type PostgresPool,
  type PostgresRow,
  type PostgresTls,
} from "./postgres_client.ts";
import {
  classifyFailure,
  createRedactor,
  describeFailure,
  type PostgresFailure,
} from "./postgres_failure.ts";
import {
  createMigration,
  createVersionQuery,
  type QuotedSchema,
  TABLES_VERSION,
} from "./postgres_tables.ts";

/** First pause before a statement is repeated, in milliseconds. Each pause is twice as long as the one before. */
const FIRST_PAUSE_MS = 20;
/** Maximum pause, in milliseconds. */
const MAX_PAUSE_MS = 1_000;

/** SQLSTATE codes of a missing table and a missing schema. */
const MISSING_TABLES: readonly string[] = ["42P01", "3F000"];

/** Options for {@linkcode PostgresDatabase}. */
export interface PostgresDatabaseOptions {
  /** URL of the database, or a client, which is not closed. */
  readonly connection: string | PostgresClient;
  /** Settings of TLS. */
  readonly ssl?: boolean | PostgresTls | undefined;
  /** The schema of the tables. */
  readonly schema: QuotedSchema;
  /** Maximum number of connections. */
  readonly maxConnections: number;
  /** Time limit of a statement, in milliseconds. */
  readonly timeoutMs: number;
  /** Time for which a statement is repeated while the server cannot be reached, in milliseconds. */
  readonly retryMs: number;
  /** Waits before a statement is repeated. Default: with a timer. */
  readonly wait?: ((milliseconds: number) => Promise<void>) | undefined;
}

/** The result of a statement. */
export interface PostgresResult {
  /** The rows. */
  readonly rows: readonly PostgresRow[];
}

/** A statement that failed. It has no cause, which may contain the connection. */
export class StatementError extends Error {
  /** Why it failed. */
  readonly failure: PostgresFailure;

  constructor(message: string, failure: PostgresFailure) {
    super(message);
    this.failure = failure;
  }
}

/** A database, to which the store connects on first use. */
export class PostgresDatabase {
  readonly #options: PostgresDatabaseOptions;
  readonly #redact: (text: string) => string;
  #pool: Promise<PostgresPool> | undefined;
  #preparation: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: PostgresDatabaseOptions) {
    this.#options = options;
    const { connection } = options;
    this.#redact = typeof connection === "string" ? createRedactor(connection) : (text) => text;
  }

  /**
   * Runs a statement. It is repeated after a pause while the server cannot be reached, so that it must have the same effect
   * when it is executed twice.
   */
  async query(text: string, values: unknown[] = []): Promise<PostgresResult> {
    this.#preparation ??= this.#prepare().catch((error) => {
      this.#preparation = undefined;
      throw error;
    });
    await this.#preparation;
    const result = await this.#run(text, values);
    if ("rows" in result) return result;
    throw this.#createError(result);
  }

  /** Closes the connections of this store. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const pool = await this.#pool?.catch(() => undefined);
    this.#pool = undefined;
    await pool?.end();
  }

  /** Creates the tables, or checks their version. */
  async #prepare(): Promise<void> {
    const found = await this.#readVersion();
    if (found.version < TABLES_VERSION) {
      const migrated = await this.#run(createMigration(this.#options.schema), []);
      const action = found.version === 0 ? "create" : "upgrade";
      if (!("rows" in migrated)) throw this.#createError(migrated, `Cannot ${action} the tables: `);
    }
    this.#checkVersion(found.version < TABLES_VERSION ? await this.#readVersion() : found);
  }

  async #readVersion(): Promise<{ readonly version: number; readonly encoding: string }> {
    const result = await this.#run(createVersionQuery(this.#options.schema), []);
    if ("rows" in result) {
      const { version, encoding } = result.rows[0] ?? {};
      return { version: Number(version ?? 0), encoding: String(encoding) };
    }
    if (result.type === "refused" && MISSING_TABLES.includes(result.code)) {
      return { version: 0, encoding: "" };
    }
    throw this.#createError(result);
  }

  #checkVersion({ version, encoding }: { readonly version: number; readonly encoding: string }) {
    const { schema } = this.#options;
    if (version > TABLES_VERSION) {
      throw new SessionError(
        `Cannot open the sessions in the schema ${schema}: they have version ${version}, and this program supports ` +
          `version ${TABLES_VERSION}: update the program`,
        { reason: "newer_version" },
      );
    }
    if (encoding !== "UTF8") {
      throw new Error(`the database has the encoding ${encoding}: use a database with UTF8`);
    }
  }

  async #run(text: string, values: unknown[]): Promise<PostgresResult | PostgresFailure> {
    const { retryMs, wait = waitWithTimer } = this.#options;
    const start = performance.now();
    for (let attempt = 1;; attempt++) {
      const client = await this.#connect();
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), MAX_PAUSE_MS);
      try {
        const { rows } = await client.query(text, values);
        return { rows };
      } catch (error) {
        const failure = classifyFailure(error, this.#redact);
        const isOver = performance.now() + pause - start > retryMs;
        if (failure.type !== "disconnected" || isOver) return failure;
      }
      await wait(pause);
    }
  }

  async #connect(): Promise<PostgresClient> {
    if (this.#isClosed) {
      throw new SessionError("The session store is closed: create a new one", {
        reason: "closed",
      });
    }
    const { connection, ssl, maxConnections, timeoutMs } = this.#options;
    if (typeof connection !== "string") return connection;
    this.#pool ??= createPool({ connection, ssl, maxConnections, timeoutMs });
    try {
      return await this.#pool;
    } catch (error) {
      this.#pool = undefined;
      throw error;
    }
  }

  #createError(failure: PostgresFailure, prefix = ""): Error {
    return new StatementError(prefix + describeFailure(failure, this.#options), failure);
  }
}

function waitWithTimer(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
