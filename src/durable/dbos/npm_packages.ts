/**
 * The npm packages of the engine, which are loaded when it starts.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { importNpmPackage, type NpmPackage } from "../../core/ports/npm_package.ts";

/** The npm packages and their version ranges, equal to those in deno.json. */
export const DBOS_PACKAGES = {
  dbos: { name: "@dbos-inc/dbos-sdk", range: "^5.3.0" },
  pg: { name: "pg", range: "^8.23.1" },
} as const;

/** The handle of a workflow. */
export interface DbosHandle {
  getResult(options: { readonly pollingIntervalMs: number }): Promise<unknown>;
}

/** The status of a workflow. */
export interface DbosStatus {
  readonly workflowID: string;
  readonly workflowName: string;
  readonly status: string;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly updatedAt?: number;
}

/** A logger of DBOS. */
export interface DbosLogger {
  /** Logs an event of the engine. */
  info(entry: unknown): void;
  /** Logs a detail. */
  debug(entry: unknown): void;
  /** Logs a problem that DBOS handles, such as a lost connection. */
  warn(entry: unknown): void;
  /** Logs an error. */
  error(entry: unknown): void;
}

/** The function of a workflow. */
export type DbosFunction = (start: unknown) => Promise<unknown>;

/** The used part of the class `DBOS`, which is a singleton. */
export interface Dbos {
  isInitialized(): boolean;
  readonly workflowID: string | undefined;
  setConfig(config: {
    readonly name: string;
    readonly systemDatabasePool: PgPool;
    readonly systemDatabaseSchemaName?: string;
    readonly applicationVersion: string;
    readonly executorID: string;
    readonly logger: DbosLogger;
  }): void;
  launch(): Promise<void>;
  shutdown(options: { readonly deregister: boolean }): Promise<void>;
  registerWorkflow(
    workflow: DbosFunction,
    config: { readonly name: string; readonly maxRecoveryAttempts: number },
  ): DbosFunction;
  startWorkflow(
    workflow: DbosFunction,
    params: { readonly workflowID: string },
  ): (start: unknown) => Promise<DbosHandle>;
  retrieveWorkflow(id: string): DbosHandle;
  getWorkflowStatus(id: string): Promise<DbosStatus | null>;
  listWorkflows(filter: {
    readonly status?: string;
    readonly executorId?: string;
    readonly workflowIDs?: string[];
    readonly loadInput: boolean;
    readonly loadOutput: boolean;
    readonly limit?: number;
  }): Promise<DbosStatus[]>;
  resumeWorkflows(ids: string[]): Promise<unknown>;
  runStep<Value>(
    execute: () => Promise<Value>,
    config: { readonly name: string },
  ): Promise<Value>;
}

/** The used part of `@dbos-inc/dbos-sdk`. */
interface DbosPackage {
  readonly DBOS: Dbos;
}

/** A notification of Postgres. */
export interface PgNotification {
  readonly channel: string;
  readonly payload?: string;
}

/** A connection of `pg`. */
export interface PgClient {
  connect(): Promise<void>;
  end(): Promise<void>;
  query(text: string, values?: unknown[]): Promise<{ readonly rows: Record<string, unknown>[] }>;
  on(event: "error" | "end", listener: (error?: unknown) => void): void;
  on(event: "notification", listener: (notification: PgNotification) => void): void;
  readonly connection: {
    on(event: "errorMessage", listener: (error: Error) => void): void;
  };
}

/** A pool of connections of `pg`. */
export interface PgPool {
  /** Number of statements that wait for a connection. */
  readonly waitingCount: number;
  on(event: "connect", listener: (client: PgClient) => void): void;
  on(event: "error", listener: () => void): void;
  end(): Promise<void>;
}

/** The used part of `pg`. */
interface PgPackage {
  readonly Client: new (options: object) => PgClient;
  readonly Pool: new (options: object) => PgPool;
}

/** Loads DBOS. */
export async function loadDbos(): Promise<Dbos> {
  const loaded = await importPackage<DbosPackage>(DBOS_PACKAGES.dbos);
  return loaded.DBOS;
}

/** Loads the client of Postgres. */
export async function loadPg(): Promise<PgPackage> {
  const loaded = await importPackage<PgPackage & { readonly default?: PgPackage }>(
    DBOS_PACKAGES.pg,
  );
  return loaded.default ?? loaded;
}

async function importPackage<Package>(source: NpmPackage): Promise<Package> {
  try {
    return await importNpmPackage(source);
  } catch (cause) {
    throw new BadRequestError(
      `Cannot load the npm package ${source.name}, which DbosEngine needs: install it`,
      { cause },
    );
  }
}
