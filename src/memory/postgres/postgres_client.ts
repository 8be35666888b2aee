/**
 * Connections to a Postgres server.
 *
 * @module
 */

import { BadRequestError, SessionError } from "../../core/errors/errors.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { importNpmPackage } from "../../core/ports/npm_package.ts";
import { MAX_TIMER_MS } from "../../core/ports/ports.ts";

/** A row of a result: values by the names of their columns. */
export type PostgresRow = Readonly<Record<string, unknown>>;

/**
 * A client that runs statements: the pool of `pg` and of packages with its interface, such as PGlite's or Neon's.
 *
 * Each call is one statement and one transaction, so that the client may use a connection for each.
 */
export interface PostgresClient {
  /** Runs a statement. The values of `$1`, `$2` … are strings, numbers, `null` or arrays of those. */
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly PostgresRow[] }>;
}

/** Settings of TLS, as those of `node:tls`. */
export interface PostgresTls {
  /** Certificates of the authorities to trust, as PEM. Default: those of the runtime. */
  readonly ca?: string;
  /** Certificate of the client, as PEM. */
  readonly cert?: string;
  /** Private key of the client, as PEM. */
  readonly key?: string;
  /** Whether the certificate of the server is verified. Default: `true`. */
  readonly rejectUnauthorized?: boolean;
}

/** Options for {@linkcode createPool}. */
export interface PoolOptions {
  /** A URL: `postgres://user:password@host:5432/database`. */
  readonly connection: string;
  /** Settings of TLS; `true` for the default ones. */
  readonly ssl: boolean | PostgresTls | undefined;
  /** Maximum number of connections. */
  readonly maxConnections: number;
  /** Time limit of a statement, in milliseconds. */
  readonly timeoutMs: number;
}

/** A pool of connections, which is closed after use. */
export interface PostgresPool extends PostgresClient {
  /** Closes the connections. */
  end(): Promise<void>;
}

/** The used part of a pool of `pg`. */
interface PgPool extends PostgresPool {
  on(event: "connect" | "remove" | "error", listener: () => void): void;
}

/** The used part of `pg`. */
interface PgPackage {
  readonly Pool: new (options: object) => PgPool;
}

/** The npm package `pg` and its version range, equal to that in deno.json. */
export const PG_PACKAGE = { name: "pg", range: "^8.23.1" } as const;

/** Maximum time for connecting, which includes waiting for a free connection, in milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Maximum time for closing connections to a server that does not answer, in milliseconds. */
const CLOSE_TIMEOUT_MS = 1_000;

let pendingPackage: Promise<PgPackage> | undefined;

/**
 * Creates a pool of connections, which are opened on use.
 *
 * @throws {SessionError} With the reason `read_failed` if the npm package `pg` is not installed.
 */
export async function createPool(options: PoolOptions): Promise<PostgresPool> {
  const { connection, ssl, maxConnections, timeoutMs } = options;
  pendingPackage ??= importPackage();
  const { Pool } = await pendingPackage;
  const pool = new Pool({
    connectionString: connection,
    ...(ssl !== undefined && { ssl }),
    max: maxConnections,
    query_timeout: Math.min(timeoutMs, MAX_TIMER_MS),
    connectionTimeoutMillis: Math.min(timeoutMs, CONNECT_TIMEOUT_MS),
    keepAlive: true,
    allowExitOnIdle: true,
  });
  // The pool replaces a connection that is lost while it is idle; without a listener the program would end.
  pool.on("error", () => {});
  const connections = new ConnectionCount(pool);
  return {
    query: (text, values) => pool.query(text, values),
    end: async () => {
      await pool.end();
      await connections.untilClosed();
    },
  };
}

/** Counts the connections of a pool, whose `end()` does not wait until they are closed. */
class ConnectionCount {
  readonly #closed = createDeferred<void>();
  #count = 0;
  #isEnding = false;

  constructor(pool: PgPool) {
    pool.on("connect", () => this.#count++);
    pool.on("remove", () => {
      this.#count--;
      this.#check();
    });
  }

  /** Resolves when all connections are closed, or after one second. */
  async untilClosed(): Promise<void> {
    this.#isEnding = true;
    this.#check();
    const timer = setTimeout(this.#closed.resolve, CLOSE_TIMEOUT_MS);
    await this.#closed.promise;
    clearTimeout(timer);
  }

  #check(): void {
    if (this.#isEnding && this.#count === 0) this.#closed.resolve();
  }
}

/**
 * Checks that a value is a URL of Postgres or a client.
 *
 * @throws {BadRequestError} If it is not. The message does not contain the value, which may have a password.
 */
export function checkConnection(connection: unknown): void {
  const isValid = typeof connection === "string"
    ? /^postgres(ql)?:\/\//.test(connection)
    : typeof Object(connection).query === "function";
  if (isValid) return;
  throw new BadRequestError(
    "Invalid connection: use a URL such as postgres://user:password@host:5432/database, or a client with query()",
  );
}

async function importPackage(): Promise<PgPackage> {
  try {
    return await importNpmPackage(PG_PACKAGE);
  } catch (cause) {
    pendingPackage = undefined;
    throw new SessionError(
      `Cannot load the npm package ${PG_PACKAGE.name}, which PostgresSessionStore needs: install it, or pass a client as ` +
        "connection",
      { reason: "read_failed", cause },
    );
  }
}
