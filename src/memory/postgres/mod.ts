/**
 * Sessions in Postgres, for servers.
 *
 * Loads the npm package `pg` on first use; a program that passes a client of its own does not need it.
 *
 * @example
 * ```ts ignore
 * import { PostgresSessionStore } from "@swink/agent/memory/postgres";
 *
 * await using store = new PostgresSessionStore({ connection: "postgres://localhost/app" });
 * const { length } = await store.list({ tenant: "acme" });
 * ```
 *
 * @module
 */

export type { PostgresClient, PostgresRow, PostgresTls } from "./postgres_client.ts";
export { PostgresSessionStore, type PostgresSessionStoreOptions } from "./postgres_store.ts";
