/**
 * Sessions in Postgres, for servers.
 *
 * Loads the npm package `pg` on first use; a program that passes a client of its own does not need it.
 *
 * @example
 * ```ts
 * import { PostgresSessionStore } from "@swink/agent/memory/postgres";
 *
 * async function countSessions(tenant: string): Promise<number> {
 *   await using store = new PostgresSessionStore({ connection: "postgres://localhost/app" });
 *   return (await store.list({ tenant })).length;
 * }
 * ```
 *
 * @module
 */

export type { PostgresClient, PostgresRow, PostgresTls } from "./postgres_client.ts";
export { PostgresSessionStore, type PostgresSessionStoreOptions } from "./postgres_store.ts";
