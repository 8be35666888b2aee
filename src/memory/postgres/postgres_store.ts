/**
 * Sessions in a Postgres database, for servers.
 *
 * @module
 */

import { checkNumber } from "../../core/checks/check_number.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { checkStoreOptions } from "../storage/check_store_options.ts";
import { stampReaders } from "../storage/session_stamps.ts";
import { StorageSessionStore } from "../storage/storage_session_store.ts";
import { checkConnection, type PostgresClient, type PostgresTls } from "./postgres_client.ts";
import { PostgresStorage } from "./postgres_storage.ts";
import { quoteSchema } from "./postgres_tables.ts";

/** Options for {@linkcode PostgresSessionStore}. */
export interface PostgresSessionStoreOptions {
  /**
   * A URL such as `postgres://user:password@host:5432/database?sslmode=verify-full`, for which the npm package `pg` is
   * loaded on first use, or a client, such as an existing `Pool` of `pg`. The store does not close a client.
   */
  readonly connection: string | PostgresClient;
  /** Settings of TLS for a URL without `sslmode`; `true` verifies the server by the runtime's certificates. Default: `false`. */
  readonly ssl?: boolean | PostgresTls | undefined;
  /** The schema of the tables, which is created if it does not exist. Default: `"swink"`. */
  readonly schema?: string | undefined;
  /** Maximum number of connections for a URL. Default: 10. */
  readonly maxConnections?: number | undefined;
  /** Time limit of a statement for a URL, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Time for which a statement is repeated while the server cannot be reached, in milliseconds. Default: 10,000. */
  readonly retryMs?: number | undefined;
  /** Duration of a writer's lease, which is renewed while the session is open, in milliseconds. Default: 30,000. */
  readonly leaseMs?: number | undefined;
  /** Name of the host, shown to other processes that find a session locked. */
  readonly owner?: string | undefined;
  /** The clock, in milliseconds since the epoch. Leases use the clock of the server. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Creates ids for entries. Default: twelve random letters and digits. */
  readonly newId?: (() => string) | undefined;
}

const OPTION_NAMES: Record<keyof PostgresSessionStoreOptions, true> = {
  connection: true,
  ssl: true,
  schema: true,
  maxConnections: true,
  timeoutMs: true,
  retryMs: true,
  leaseMs: true,
  owner: true,
  now: true,
  newId: true,
};

/**
 * Keeps the sessions of many processes and machines in one Postgres database, with an index of their words.
 *
 * The schema with its tables is created on first use. A session that is open for writing has a lease, which another
 * process can take over when it has ended; each write checks it. Needs PostgreSQL 12 or later and a database with the
 * encoding UTF8.
 *
 * `deleteAll()` deletes 100 sessions at a time. When a connection is lost meanwhile, its result may lack ids of deleted
 * sessions.
 *
 * @example
 * ```ts ignore
 * import { PostgresSessionStore } from "@swink/agent/memory/postgres";
 *
 * await using store = new PostgresSessionStore({ connection: "postgres://localhost/app" });
 * await using session = await store.create({ id: "auth0|123", tenant: "acme" });
 * session.append({ type: "title", title: "First steps" });
 * await session.flush();
 * (await store.list({ tenant: "acme", limit: 20 })).length; // 1
 * ```
 */
export class PostgresSessionStore extends StorageSessionStore {
  /**
   * Creates a store, which connects on first use.
   *
   * @throws {BadRequestError} If an option is unknown, the connection is neither a URL of Postgres nor a client, the schema has an invalid
   * name, or a number is invalid.
   */
  constructor(options: PostgresSessionStoreOptions) {
    checkStoreOptions("PostgresSessionStore", options, {
      example: '{ connection: "postgres://localhost/app" }',
      known: Object.keys(OPTION_NAMES),
    });
    const { connection, ssl, schema = "swink", maxConnections = 10 } = options;
    const { timeoutMs = 30_000, retryMs = 10_000, leaseMs = 30_000 } = options;
    for (const [name, value] of Object.entries({ maxConnections, timeoutMs, retryMs })) {
      checkNumber(name, value);
    }
    // The server calculates with the duration, as it does not with Infinity.
    if (leaseMs === Infinity) throw new BadRequestError("leaseMs must be finite");
    checkConnection(connection);
    const storage = new PostgresStorage({
      connection,
      ssl,
      schema: quoteSchema(schema),
      maxConnections,
      timeoutMs,
      retryMs,
    });
    super(storage, options);
    stampReaders.set(this, (id) => storage.readStamp(id));
  }
}
