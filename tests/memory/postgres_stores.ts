/**
 * Stores on a Postgres server of a test.
 *
 * @module
 */

import type { SessionStore } from "../../src/core/sessions/session.ts";
import {
  PostgresSessionStore,
  type PostgresSessionStoreOptions,
} from "../../src/memory/postgres/mod.ts";
import { createPool, type PostgresPool } from "../../src/memory/postgres/postgres_client.ts";
import { createMessageEntry, extractTexts } from "../../src/testing/session_subject.ts";
import { DEADLINE_MS } from "../deadline.ts";
import {
  POSTGRES_DIRECTORY,
  type PostgresServer,
  type PostgresServerOptions,
  startPostgres,
} from "./postgres_server.ts";

/** The server of a file's tests. */
export class ServerTests {
  readonly #server: PostgresServer | undefined;

  private constructor(server: PostgresServer | undefined) {
    this.#server = server;
    Deno.test.afterAll(() => server?.stop());
  }

  /** Starts a server. */
  static async start(options?: PostgresServerOptions): Promise<ServerTests> {
    const isInstalled = POSTGRES_DIRECTORY !== undefined;
    return new ServerTests(isInstalled ? await startPostgres(options) : undefined);
  }

  /** Creates stores in a schema of their own. */
  createStores(): PostgresStores {
    if (!this.#server) throw new Error("PostgreSQL is not installed");
    return new PostgresStores(this.#server);
  }

  /** Registers a test, which is ignored without PostgreSQL. */
  register(name: string, fn: () => void | Promise<void>): void {
    Deno.test({ name: `PostgresSessionStore: ${name}`, ignore: !this.#server, fn });
  }

  /** Registers a test with stores in a schema of their own. */
  readonly test = (name: string, run: (stores: PostgresStores) => Promise<void>): void => {
    this.register(name, async () => {
      await using stores = this.createStores();
      await run(stores);
    });
  };
}

let schemas = 0;

/** Stores over the same sessions, in a schema of their own. Disposal closes the stores and drops the schema. */
export class PostgresStores implements AsyncDisposable {
  /** The schema. */
  readonly schema = `sessions_${schemas++}`;
  /** The server. */
  readonly server: PostgresServer;
  readonly #stores: PostgresSessionStore[] = [];

  constructor(server: PostgresServer) {
    this.server = server;
  }

  /** Creates a store. */
  open(options: Partial<PostgresSessionStoreOptions> = {}): PostgresSessionStore {
    const { schema, server } = this;
    const connection = server.url;
    const store = new PostgresSessionStore({ connection, schema, maxConnections: 3, ...options });
    this.#stores.push(store);
    return store;
  }

  /** Makes the line of an entry unreadable. */
  async damage(id: string, position: number): Promise<void> {
    await this.server.sql(
      `UPDATE ${this.schema}.entries SET line = 'garbled' WHERE session = $1 AND position = $2`,
      [id, position],
    );
  }

  /** Ends the lease of a session's writer. */
  async endLease(id: string): Promise<void> {
    await this.server.sql(
      `UPDATE ${this.schema}.sessions SET lease_end = now() - interval '1 second' WHERE id = $1`,
      [id],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#stores) await store.close();
    await this.server.sql(`DROP SCHEMA IF EXISTS ${this.schema} CASCADE`);
  }
}

/** Connects to a server without a store. */
export async function openPool(
  { url }: PostgresServer,
  { maxConnections = 3 }: { readonly maxConnections?: number } = {},
): Promise<PostgresPool> {
  const timeoutMs = DEADLINE_MS;
  return await createPool({ connection: url, ssl: undefined, maxConnections, timeoutMs });
}

/** Creates the error of a lost connection. */
export function createDisconnectedError(): Error {
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
}

/** Creates a session with messages. */
export async function writeSession(
  store: SessionStore,
  id: string,
  ...texts: readonly string[]
): Promise<void> {
  await using session = await store.create({ id });
  for (const text of texts) session.append(createMessageEntry(text));
}

/** Returns the texts of a session's messages. */
export async function readTexts(store: SessionStore, id: string): Promise<string[]> {
  await using session = await store.open(id, { access: "read" });
  return extractTexts(await session.path());
}
