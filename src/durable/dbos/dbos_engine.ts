/**
 * An engine on DBOS, which keeps its runs in Postgres.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import type {
  CloseEngineOptions,
  DurableEngine,
  DurableRun,
  DurableStatus,
  DurableWorkflow,
  WorkflowFunction,
} from "../../core/durable/durable_engine.ts";
import type { RunMessage } from "../../core/durable/durable_steps.ts";
import { EngineClosedError } from "../../core/durable/engine_closed_error.ts";
import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import type { JsonValue } from "../../core/json/json.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { systemClock } from "../../core/ports/ports.ts";
import { startTimer } from "../../core/ports/start_timer.ts";
import { getBuiltinModule } from "../../platform/builtin_modules.ts";
import { checkCloseOptions } from "../engine/check_close_options.ts";
import { createRefusal, EngineRun, type RunBackend } from "../engine/engine_run.ts";
import { EngineStart } from "../engine/engine_start.ts";
import { executeRun } from "../engine/execute_run.ts";
import { type DurableOutcome, parseOutcome } from "../engine/run_outcome.ts";
import { type StartRun, WorkflowRegistry } from "../engine/workflow_registry.ts";
import { EventHub, STORE_MS } from "../events/event_hub.ts";
import { createRunEvents } from "../events/run_events.ts";
import { ControlConnection, retryWhileUnavailable } from "./control_connection.ts";
import { createPool } from "./create_pool.ts";
import { DbosJournal } from "./dbos_journal.ts";
import { EventRows, parseNotification } from "./event_rows.ts";
import {
  type Dbos,
  type DbosFunction,
  type DbosLogger,
  loadDbos,
  type PgNotification,
  type PgPool,
} from "./npm_packages.ts";
import { keepOuterContext, runOutside } from "./run_outside.ts";
import { RunRecovery } from "./run_recovery.ts";
import { RunTables } from "./run_tables.ts";
import { Sockets } from "./sockets.ts";
import { toDurableStatus } from "./to_durable_status.ts";

/** Pause before a run that cannot be recorded is resumed, in milliseconds. */
const RESUME_PAUSE_MS = 1_000;
/** Number of processes that may end while they execute the same run. */
const MAX_RECOVERIES = 1_000;
/** Pause between two looks for the outcome of a run of another worker, in milliseconds. */
const RESULT_POLL_MS = 500;
/** Time in which Postgres answers when the engine is closed and its steps have ended, in milliseconds. */
const ANSWER_MS = 5_000;
/** Pause between two looks for statements that wait for a connection, in milliseconds. */
const WAITING_PAUSE_MS = 5;
/** Codes of the errors of DBOS after which a run must not be resumed here. */
const FINAL_ERRORS: readonly unknown[] = [
  5, // Another worker has the run.
  24, // The run was cancelled.
  37, // A step was recorded twice.
];

/** Options for `new DbosEngine()`. */
export interface DbosEngineOptions {
  /** URL of a Postgres database: `postgres://user:password@host:5432/database`. */
  readonly databaseUrl: string;
  /**
   * Name of the application. Workers with the same name share runs; applications with other names may use the same
   * database. Default: `"swink"`.
   */
  readonly name?: string | undefined;
  /** Id of this worker, unique among all that live. Default: a random UUID. */
  readonly executorId?: string | undefined;
  /** Version of the workflows; a run is continued only by workers with the version of its start. Default: `"1"`. */
  readonly version?: string | undefined;
  /** Schema of the tables of DBOS. Default: `"dbos"`. */
  readonly schema?: string | undefined;
  /**
   * Schema of the tables for messages, events and workers. Default: `"swink_durable"`, and with another `schema` a name
   * that ends with it, since the ids of runs are unique within that.
   */
  readonly messageSchema?: string | undefined;
  /** Maximum number of connections of DBOS; one more is used for locks and messages. Default: 10. */
  readonly maxConnections?: number | undefined;
  /** Pause between two looks for workers that have ended, in milliseconds. Default: 1,000. */
  readonly recoveryMs?: number | undefined;
  /** Time for which the events of a run are kept after its end, in milliseconds. Default: 300,000. */
  readonly keepEventsMs?: number | undefined;
  /** Receives the log entries of DBOS. Default: they are dropped. */
  readonly logger?: DbosLogger | undefined;
}

const OPTION_NAMES: readonly (keyof DbosEngineOptions)[] = [
  "databaseUrl",
  "name",
  "executorId",
  "version",
  "schema",
  "messageSchema",
  "maxConnections",
  "recoveryMs",
  "keepEventsMs",
  "logger",
];

const DEFAULT_NAME = "swink";
const DBOS_SCHEMA = "dbos";

const SILENT: DbosLogger = { info() {}, debug() {}, warn() {}, error() {} };

/** The recorded input of a run. */
interface RunInput {
  readonly input: JsonValue;
  readonly startedAt: number;
  /** Id of the request that has started the run: other requests for the same run have other ones. */
  readonly startId?: string;
}

/**
 * Runs workflows on DBOS, a library that keeps them in Postgres: for servers of any number of workers.
 *
 * Each worker holds an advisory lock, which Postgres releases when its process or its machine ends. The first other worker
 * that gets the lock continues its runs, within seconds. A process has one `DbosEngine` at a time, since DBOS is a
 * singleton.
 *
 * @example
 * ```ts ignore
 * import { durableAgent } from "@swink/agent/durable";
 * import { DbosEngine } from "@swink/agent/durable/dbos";
 *
 * const engine = new DbosEngine({ databaseUrl: "postgres://app@localhost/app" });
 * const support = engine.register("support", async (steps, prompt: string) => {
 *   const agent = durableAgent({ model: "anthropic/claude-sonnet-5-5" }, steps);
 *   return (await agent.prompt(prompt)).text;
 * });
 * await engine.start();
 * const run = await support.start("My order is late", { id: "ticket-17" });
 * console.log(await run.result());
 * ```
 */
export class DbosEngine implements DurableEngine {
  /** Id of this worker. */
  readonly executorId: string;
  readonly #options: DbosEngineOptions;
  readonly #tables: RunTables;
  readonly #registry = new WorkflowRegistry((start) => this.#startRun(start));
  readonly #functions = new Map<string, DbosFunction>();
  readonly #active = new Map<string, DbosJournal>();
  /** The requests of this process that start runs now. */
  readonly #startIds = new Set<unknown>();
  readonly #connection: ControlConnection;
  readonly #recovery: RunRecovery;
  readonly #sockets = new Sockets();
  readonly #backend: RunBackend;
  readonly #closing = new AbortController();
  readonly #starting = new EngineStart(this.#closing.signal);
  #closed: Promise<void> | undefined;
  #dbos: Dbos | undefined;
  #pool: PgPool | undefined;
  #poolEnded: Promise<void> | undefined;
  #recovering: Promise<void> = Promise.resolve();

  /**
   * Creates an engine.
   *
   * @throws {BadRequestError} If an option is invalid.
   */
  constructor(options: DbosEngineOptions) {
    checkNames(options, OPTION_NAMES, "DbosEngine");
    const {
      databaseUrl,
      executorId = crypto.randomUUID(),
      name = DEFAULT_NAME,
      schema = DBOS_SCHEMA,
    } = options ?? {};
    const ownSchema = schema === DBOS_SCHEMA ? "swink_durable" : `swink_durable_${schema}`;
    if (typeof databaseUrl !== "string" || !/^postgres(ql)?:\/\//.test(databaseUrl)) {
      throw new BadRequestError(
        "DbosEngine needs a databaseUrl such as postgres://user:password@host:5432/database",
      );
    }
    keepOuterContext();
    this.#options = options;
    this.executorId = executorId;
    this.#tables = new RunTables(options.messageSchema ?? ownSchema, name);
    this.#connection = new ControlConnection({
      databaseUrl,
      clock: systemClock,
      stream: this.#sockets.create,
      setUp: (query) => this.#tables.setUp(query, executorId),
      onNotification: (notification) => this.#onNotification(notification),
      onReconnect: () => {
        this.#recovery.requestReconcile();
        this.#backend.hub.notifyAll();
        for (const runId of this.#active.keys()) void this.#readMessages(runId).catch(() => {});
      },
    });
    const storage = new EventRows({
      table: this.#tables.events,
      connection: this.#connection,
      executorId,
      clock: systemClock,
      runs: `"${schema}".workflow_status`,
    });
    this.#recovery = new RunRecovery({
      executorId,
      tables: this.#tables,
      connection: this.#connection,
      events: storage,
      recoveryMs: options.recoveryMs ?? 1_000,
      keepEventsMs: options.keepEventsMs ?? 300_000,
      isActive: (runId) => this.#active.has(runId),
      hasWorkflow: (name) => this.#functions.has(name),
      call: (call) => this.#call(call),
    });
    this.#backend = {
      storage,
      clock: systemClock,
      hub: new EventHub({ storage, clock: systemClock, pollMs: Infinity }),
      assertOpen: () => this.#starting.untilStarted(),
      getStatus: (id) => this.#getStatus(id),
      awaitOutcome: (id) => this.#awaitOutcome(id),
      sendMessage: (id, message) => this.#sendMessage(id, message),
    };
  }

  /** Registers the code of a workflow, before {@linkcode DbosEngine.start}. */
  register<Input, Output>(
    name: string,
    workflow: WorkflowFunction<Input, Output>,
  ): DurableWorkflow<Input, Output> {
    if (this.#dbos) {
      throw new BadRequestError("Register all workflows before you call start() of the engine");
    }
    return this.#registry.register(name, workflow);
  }

  /** Connects, and begins to continue the runs of processes that have ended. */
  async start(): Promise<void> {
    await this.#starting.run(() => this.#start()).catch(async (error) => {
      if (this.#dbos) await this.close();
      throw error;
    });
  }

  async #start(): Promise<void> {
    const { databaseUrl, name = DEFAULT_NAME, version = "1", schema, maxConnections = 10, logger } =
      this.#options;
    const dbos = await loadDbos();
    if (dbos.isInitialized()) {
      throw new BadRequestError("This process has a DbosEngine already: close it first");
    }
    await this.#connection.open();
    if (this.#closing.signal.aborted) throw new EngineClosedError();
    const { create: stream } = this.#sockets;
    const pool = this.#pool = await createPool({ databaseUrl, maxConnections, stream });
    this.#dbos = dbos;
    for (const workflow of this.#registry.names) {
      const execute = (start: unknown) => this.#execute(workflow, start as RunInput);
      const config = { name: workflow, maxRecoveryAttempts: MAX_RECOVERIES };
      this.#functions.set(workflow, dbos.registerWorkflow(execute, config));
    }
    dbos.setConfig({
      name,
      systemDatabasePool: pool,
      ...(schema !== undefined && { systemDatabaseSchemaName: schema }),
      // DBOS refuses the version of another application.
      applicationVersion: name === DEFAULT_NAME ? version : `${name} ${version}`,
      executorID: this.executorId,
      logger: logger ?? SILENT,
    });
    // Two workers that create the tables of DBOS at once would deadlock.
    const waiting = { sleep: systemClock.sleep, signal: this.#closing.signal };
    await this.#tables.runAlone(this.#connection, waiting, () => dbos.launch());
    this.#recovering = this.#recovery.run(dbos, this.#closing.signal);
  }

  /** Returns a run by its id, whether it exists or not. */
  getRun<Output = unknown>(id: string): DurableRun<Output> {
    return new EngineRun(id, this.#backend);
  }

  /** Stops. Runs that are active here stay unfinished, and another process continues them. */
  async close(options: CloseEngineOptions = {}): Promise<void> {
    checkCloseOptions(options);
    const { graceMs } = options;
    this.#closing.abort();
    this.#closed ??= this.#close(graceMs);
    // A later call may have a shorter time for the steps.
    await Promise.all([this.#closed, this.#closeActive(graceMs)]);
  }

  async #close(graceMs: number | undefined): Promise<void> {
    const closed = this.#closeActive(graceMs);
    if (!this.#dbos) this.#connection.cancel();
    await closed;
    const stopTimer = startTimer(systemClock, ANSWER_MS, () => this.#abandonServer());
    // An engine whose start has not ended could not be shut down.
    await this.#starting.untilEnded();
    await this.#recovering;
    // The start may have begun runs meanwhile.
    await this.#closeActive(graceMs);
    await this.#dbos?.shutdown({ deregister: true });
    // A pool that is ended forgets the statements that wait for a connection, until their time is over.
    while (this.#pool?.waitingCount && !this.#poolEnded) await systemClock.sleep(WAITING_PAUSE_MS);
    await (this.#poolEnded ??= this.#pool?.end());
    await this.#backend.hub.close({ limitMs: STORE_MS });
    // The lock is released last: another worker continues the runs that were active here.
    await this.#connection.close();
    stopTimer();
  }

  /** Ends the connections to a server that does not answer. Nothing is lost: its runs are continued from their records. */
  #abandonServer(): void {
    this.#poolEnded ??= this.#pool?.end();
    void this.#connection.close();
    this.#sockets.destroy();
  }

  async #closeActive(graceMs: number | undefined): Promise<void> {
    await Promise.all(Array.from(this.#active.values(), (journal) => journal.close(graceMs)));
  }

  /** Closes the engine. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  readonly #startRun: StartRun = async ({ id, workflow, input }) => {
    const dbos = await this.#getDbos();
    const run = this.#functions.get(workflow);
    if (!run) throw new BadRequestError(`The workflow "${workflow}" is not registered`);
    const startId = crypto.randomUUID();
    const start: RunInput = { input, startedAt: systemClock.now(), startId };
    this.#startIds.add(startId);
    try {
      await this.#call(() => dbos.startWorkflow(run, { workflowID: id })(start));
    } finally {
      this.#startIds.delete(startId);
    }
    return this.getRun(id);
  };

  /** Calls DBOS outside of any workflow. Not all of its calls survive a restart of Postgres by themselves. */
  #call<Value>(call: () => Promise<Value>): Promise<Value> {
    return this.#starting.whileOpen(() =>
      retryWhileUnavailable(() => runOutside(call), systemClock)
    );
  }

  /** Returns DBOS when it has started: before that, it has neither a connection nor tables. */
  async #getDbos(): Promise<Dbos> {
    await this.#starting.untilStarted();
    if (!this.#dbos) throw new EngineClosedError();
    return this.#dbos;
  }

  /** The function of a workflow. It settles only if its run has ended. */
  async #execute(name: string, { input, startedAt, startId }: RunInput): Promise<unknown> {
    const dbos = this.#dbos;
    const runId = dbos?.workflowID;
    const workflow = this.#registry.find(name);
    if (!dbos || runId === undefined || !workflow) throw new Error("The engine was not started");
    const isContinued = !this.#startIds.delete(startId);
    const runInContext = getBuiltinModule("node:async_hooks").AsyncLocalStorage.snapshot();
    const events = createRunEvents(runId, this.#backend);
    const closeInbox = (last: number) => this.#closeInbox(runId, last);
    const journal = new DbosJournal({
      runId,
      startedAt,
      isContinued,
      events,
      dbos,
      closeInbox,
      runInContext,
    });
    const earlier = this.#active.get(runId);
    this.#active.set(runId, journal);
    // DBOS gives a run that was resumed to any worker, also to the one that still executes it.
    earlier?.tracker.detach("The run is executed again");
    if (this.#closing.signal.aborted) journal.tracker.detach("The engine was closed");
    try {
      // A new run reads its messages meanwhile: the notification of one that came before it found no inbox here.
      const arriving = this.#readMessages(runId);
      if (isContinued) await arriving;
      else arriving.catch(() => {});
      const outcome = await executeRun(journal, { workflow, input });
      void this.#tables.deleteMessages(this.#connection, runId).catch(() => {});
      return outcome;
    } catch (error) {
      // The messages of the run could not be read, or it is no longer executed here.
      journal.tracker.detach(getErrorMessage(error));
      return await this.#handleDetach(journal);
    } finally {
      if (this.#active.get(runId) === journal) this.#active.delete(runId);
    }
  }

  /** Leaves a run to another execution. DBOS would record the end of the function as the outcome of the run. */
  async #handleDetach(journal: DbosJournal): Promise<never> {
    const { dbosErrorCode } = (journal.failure ?? {}) as { readonly dbosErrorCode?: unknown };
    if (FINAL_ERRORS.includes(dbosErrorCode)) throw journal.failure;
    const { signal } = this.#closing;
    while (!signal.aborted && this.#active.get(journal.runId) === journal) {
      try {
        const dbos = await this.#getDbos();
        // The next execution finds what this one has published.
        await journal.events.flush();
        await runOutside(() => dbos.resumeWorkflows([journal.runId]));
        break;
      } catch {
        await systemClock.sleep(RESUME_PAUSE_MS, signal);
      }
    }
    return await createDeferred<never>().promise;
  }

  #onNotification({ channel, payload = "" }: PgNotification): void {
    if (channel === this.#tables.channel) return void this.#readMessages(payload).catch(() => {});
    const notification = parseNotification(payload);
    if (!notification || notification.executorId === this.executorId) return;
    this.#backend.hub.notify(notification.runIds.map((runId) => [runId, Infinity]));
  }

  async #readMessages(runId: string): Promise<void> {
    const inbox = this.#active.get(runId)?.inbox;
    inbox?.add(await this.#tables.readMessages(this.#connection, runId, inbox.last));
  }

  async #closeInbox(runId: string, last: number): Promise<boolean> {
    const isClosed = await this.#tables.closeInbox(this.#connection, runId, last);
    if (!isClosed) await this.#readMessages(runId);
    return isClosed;
  }

  async #sendMessage(id: string, message: RunMessage): Promise<void> {
    await this.#getDbos();
    const isAccepted = await this.#starting.whileOpen(() =>
      this.#tables.appendMessage(this.#connection, id, message)
    );
    if (!isAccepted) throw createRefusal(id);
    await this.#readMessages(id);
  }

  async #getStatus(id: string): Promise<DurableStatus | undefined> {
    const dbos = await this.#getDbos();
    const found = await this.#call(() => dbos.getWorkflowStatus(id));
    return found ? toDurableStatus(found) : undefined;
  }

  async #awaitOutcome(id: string): Promise<DurableOutcome> {
    const dbos = await this.#getDbos();
    try {
      const call = () => dbos.retrieveWorkflow(id).getResult({ pollingIntervalMs: RESULT_POLL_MS });
      return parseOutcome(await this.#call(call));
    } catch (error) {
      if (error instanceof EngineClosedError) throw error;
      const status = await this.#getStatus(id);
      if (status === "aborted") return { type: status };
      if (status === "failed") return { type: status, error: { message: getErrorMessage(error) } };
      throw error;
    }
  }
}
