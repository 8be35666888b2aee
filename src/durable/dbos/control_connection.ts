/**
 * The connection of a worker to Postgres, whose locks show that the worker lives.
 *
 * @module
 */

import { NetworkError } from "../../core/errors/errors.ts";
import { createDeferred, type Deferred } from "../../core/ports/deferred.ts";
import type { Clock } from "../../core/ports/ports.ts";
import { loadPg, type PgClient, type PgNotification } from "./npm_packages.ts";
import type { Sockets } from "./sockets.ts";
import { isTemporary } from "./statement_failures.ts";

/** First and longest pause between two attempts to connect, in milliseconds. */
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1_000;
/** Time for which a statement waits for a connection, and a connection for the server, in milliseconds. */
const RETRY_MS = 30_000;
const UNREACHABLE = "Postgres cannot be reached";

/** Options for {@linkcode ControlConnection}. */
export interface ControlConnectionOptions {
  /** URL of the database. */
  readonly databaseUrl: string;
  /** The clock. */
  readonly clock: Clock;
  /** Creates the socket of a connection. Default: that of the client. */
  readonly stream?: Sockets["create"] | undefined;
  /** Statements to run after each connect, before all others. */
  readonly setUp: (query: PgClient["query"]) => Promise<void>;
  /** Called with each notification. */
  readonly onNotification: (notification: PgNotification) => void;
  /** Called after each connect but the first. */
  readonly onReconnect: () => void;
}

/** One connection, which is opened again when it is lost. */
export class ControlConnection {
  readonly #options: ControlConnectionOptions;
  #client: Deferred<PgClient> = createDeferred();
  #current: PgClient | undefined;
  #isClosed = false;
  #connectedAt = 0;
  #connecting: Promise<void> = Promise.resolve();
  readonly #running = new Set<Promise<unknown>>();
  readonly #cancelled = createDeferred<never>();

  constructor(options: ControlConnectionOptions) {
    this.#options = options;
    this.#client.promise.catch(() => {});
    this.#cancelled.promise.catch(() => {});
  }

  /** Time of the last connect, in milliseconds since the epoch; 0 while it is not connected. */
  get connectedAt(): number {
    return this.#connectedAt;
  }

  /** Connects. Rejects if the server refuses, or cannot be reached at the first attempt. */
  async open(): Promise<void> {
    this.#use(await this.#connect());
  }

  /**
   * Runs a statement. It is repeated when the connection is lost or the server cannot execute it now, so that it must have the
   * same effect when it is executed twice.
   */
  async query(
    text: string,
    values: unknown[] = [],
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const running = this.#run(text, values);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  async #run(
    text: string,
    values: unknown[],
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { clock } = this.#options;
    const start = clock.now();
    for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = nextPause(pauseMs)) {
      const client = await this.#waitForClient(start);
      try {
        return (await client.query(text, values)).rows;
      } catch (error) {
        if (this.#isClosed || (!isTemporary(error) && client === this.#current)) throw error;
        if (clock.now() - start > RETRY_MS) throw new NetworkError(UNREACHABLE, { cause: error });
        await clock.sleep(pauseMs);
      }
    }
  }

  /** Ends all attempts to connect, which may wait for a server that does not answer, or for a lock. */
  cancel(): void {
    this.#cancelled.reject(createClosedError());
  }

  /** Closes the connection, which releases its locks, when the statements that run have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.cancel();
    this.#client.reject(createClosedError());
    const current = this.#current;
    this.#current = undefined;
    await current?.end().catch(() => {});
    await this.#connecting;
    await Promise.allSettled(this.#running);
  }

  async #waitForClient(start: number): Promise<PgClient> {
    const timer = new AbortController();
    const { clock } = this.#options;
    const limit = clock.sleep(Math.max(0, start + RETRY_MS - clock.now()), timer.signal)
      .then(() => undefined);
    try {
      const client = await Promise.race([this.#client.promise, limit]);
      if (client) return client;
      throw new NetworkError(UNREACHABLE);
    } finally {
      timer.abort();
    }
  }

  async #connect(): Promise<PgClient> {
    const { Client } = await loadPg();
    const { databaseUrl, stream, setUp, onNotification } = this.#options;
    const client = new Client({
      connectionString: databaseUrl,
      keepAlive: true,
      connectionTimeoutMillis: RETRY_MS,
      ...(stream && { stream }),
    });
    client.on("error", () => this.#onEnd(client));
    client.on("end", () => this.#onEnd(client));
    client.on("notification", onNotification);
    const connect = async () => {
      await client.connect();
      await setUp((text, values) => client.query(text, values));
    };
    try {
      await Promise.race([this.#cancelled.promise, connect()]);
      return client;
    } catch (error) {
      // A server that does not answer does not end the connection.
      await Promise.race([this.#cancelled.promise, client.end()]).catch(() => {});
      throw error;
    }
  }

  #use(client: PgClient): void {
    this.#current = client;
    this.#connectedAt = this.#options.clock.now();
    this.#client.resolve(client);
  }

  #onEnd(client: PgClient): void {
    if (client !== this.#current) return;
    this.#current = undefined;
    this.#connectedAt = 0;
    this.#client = createDeferred();
    this.#client.promise.catch(() => {});
    void client.end().catch(() => {});
    if (!this.#isClosed) this.#connecting = this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    const { clock, onReconnect } = this.#options;
    for (let pauseMs = FIRST_PAUSE_MS; !this.#isClosed; pauseMs = nextPause(pauseMs)) {
      try {
        const client = await this.#connect();
        if (this.#isClosed) return await client.end();
        this.#use(client);
        return onReconnect();
      } catch {
        await clock.sleep(pauseMs);
      }
    }
  }
}

function createClosedError(): NetworkError {
  return new NetworkError("The connection to Postgres was closed");
}

function nextPause(pauseMs: number): number {
  return Math.min(2 * pauseMs, MAX_PAUSE_MS);
}

/** Repeats a call, which must have the same effect when it is made twice, while Postgres cannot be reached. */
export async function retryWhileUnavailable<Value>(
  call: () => Promise<Value>,
  { now, sleep }: Clock,
): Promise<Value> {
  const start = now();
  for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = nextPause(pauseMs)) {
    try {
      return await call();
    } catch (error) {
      if (!isTemporary(error) || now() - start > RETRY_MS) throw error;
    }
    await sleep(pauseMs);
  }
}
