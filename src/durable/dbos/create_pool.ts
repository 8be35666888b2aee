/**
 * The connections of DBOS.
 *
 * @module
 */

import { loadPg, type PgPool } from "./npm_packages.ts";
import type { Sockets } from "./sockets.ts";
import { hasTemporaryCode } from "./statement_failures.ts";

/** Time for connecting, which includes waiting for a free connection, in milliseconds. */
const CONNECT_TIMEOUT_MS = 30_000;
/** Time after which Postgres ends a transaction whose worker hangs, in milliseconds. */
const IDLE_TRANSACTION_MS = 60_000;

/** Options for `createPool()`. */
interface PoolOptions {
  /** URL of the database. */
  readonly databaseUrl: string;
  /** Maximum number of connections. */
  readonly maxConnections: number;
  /** Creates the socket of a connection. */
  readonly stream: Sockets["create"];
}

/** Code of an error after which DBOS repeats a statement. */
const REPEATED = { code: "ECONNRESET" };

/**
 * Creates the pool of DBOS. A connection that Postgres ends has a listener at every moment: an `error` event without one
 * would end the program, as with the connections that DBOS creates itself while it starts.
 */
export async function createPool(
  { databaseUrl, maxConnections, stream }: PoolOptions,
): Promise<PgPool> {
  const { Pool } = await loadPg();
  const pool = new Pool({
    connectionString: databaseUrl,
    max: maxConnections,
    stream: () => {
      const socket = stream();
      socket.on("error", markTemporary);
      return socket;
    },
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
  });
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => {});
    client.connection.on("errorMessage", markTemporary);
  });
  return pool;
}

/**
 * Lets DBOS repeat the statement of an error. It knows only some of them, and records each other one as the outcome of a run
 * that has ended at that moment.
 */
function markTemporary(error: Error): void {
  if (hasTemporaryCode(error)) error.cause ??= Object.assign(new Error(error.message), REPEATED);
}
