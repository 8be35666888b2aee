/**
 * The URL of a test's database for DBOS.
 *
 * @module
 */

import type { PostgresServer } from "../memory/postgres_server.ts";

/** Returns the URL of a server on a socket with a user and a host, which DBOS requires; `host` in the query overrides it. */
export function toDbosUrl({ url }: PostgresServer): string {
  const directory = new URL(url).searchParams.get("host") ?? "";
  return `postgres://postgres@localhost/postgres?host=${directory}`;
}
