/**
 * Durable runs on DBOS, in Postgres.
 *
 * {@linkcode DbosEngine} runs the workflows of `@swink/agent/durable` on `npm:@dbos-inc/dbos-sdk`, which is loaded when the
 * engine starts. A run whose worker has ended is continued by another one within seconds.
 *
 * @module
 */

export { DbosEngine, type DbosEngineOptions } from "./dbos_engine.ts";
export type { DbosLogger } from "./npm_packages.ts";
