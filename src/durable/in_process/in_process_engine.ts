/**
 * An engine in the process of the application, over a session store.
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
import { BadRequestError } from "../../core/errors/errors.ts";
import { abortable } from "../../core/ports/abortable.ts";
import { createDeferred, type Deferred } from "../../core/ports/deferred.ts";
import { type Clock, systemClock } from "../../core/ports/ports.ts";
import type { SessionStore } from "../../core/sessions/session.ts";
import { checkCloseOptions } from "../engine/check_close_options.ts";
import { createRefusal, EngineRun, type RunBackend } from "../engine/engine_run.ts";
import { EngineStart } from "../engine/engine_start.ts";
import { executeRun } from "../engine/execute_run.ts";
import type { DurableOutcome } from "../engine/run_outcome.ts";
import { type StartRun, WorkflowRegistry } from "../engine/workflow_registry.ts";
import { EventHub } from "../events/event_hub.ts";
import { createRunEvents } from "../events/run_events.ts";
import { StepTracker } from "../steps/step_tracker.ts";
import { closeOnError, type OpenRun, type RunStart, RunStore } from "./run_store.ts";
import { SessionEvents } from "./session_events.ts";
import { SessionJournal } from "./session_journal.ts";

/** Options for `new InProcessEngine()`. */
export interface InProcessEngineOptions {
  /** The store of the runs. Use one of its own, or a `scopeStore()`, so that lists of conversations do not have them. */
  readonly store: SessionStore;
  /** Beginning of the ids of the sessions. Default: `"durable-"`. */
  readonly prefix?: string | undefined;
  /**
   * Pause between two looks into the store, in milliseconds: for runs of processes that have ended, messages of other
   * processes, and outcomes. Default: 1,000.
   */
  readonly pollMs?: number | undefined;
  /** Time for which the events of a run are kept after its last one, in milliseconds. Default: 300,000. */
  readonly keepEventsMs?: number | undefined;
  /** Returns the time. Default: `Date.now`. */
  readonly now?: Clock["now"] | undefined;
  /** Waits. Default: based on `setTimeout`. */
  readonly sleep?: Clock["sleep"] | undefined;
}

const OPTION_NAMES: readonly (keyof InProcessEngineOptions)[] = [
  "store",
  "prefix",
  "pollMs",
  "keepEventsMs",
  "now",
  "sleep",
];

/** Time in which a run ends when the engine is closed and its steps have ended, or a call of a closed one, in milliseconds. */
const ANSWER_MS = 5_000;

/** Pause between two looks for events that are no longer kept, in milliseconds. */
const REMOVAL_MS = 60_000;

/** A run that this process executes. */
interface ActiveRun extends Pick<OpenRun, "session"> {
  readonly journal: SessionJournal;
  readonly ended: Promise<void>;
}

/**
 * Runs workflows in this process, and keeps them in a session store: for tests, and for servers of one or a few machines.
 * A run whose process has ended is continued by any process with the same store, when the lock of its session ends: at
 * once in files, after the lease in Postgres.
 *
 * @example
 * ```ts
 * import { InProcessEngine } from "@swink/agent/durable";
 * import { InMemorySessionStore } from "@swink/agent/memory";
 *
 * await using engine = new InProcessEngine({ store: new InMemorySessionStore() });
 * const greet = engine.register("greet", async (steps, name: string) => {
 *   const time = await steps.run("time", () => Date.now());
 *   return `Hello ${name}, it is ${time}`;
 * });
 * await engine.start();
 * const run = await greet.start("Ada");
 * await run.result();
 * ```
 */
export class InProcessEngine implements DurableEngine {
  readonly #runs: RunStore;
  readonly #pollMs: number;
  readonly #clock: Clock;
  readonly #registry = new WorkflowRegistry((start) => this.#startRun(start));
  readonly #backend: RunBackend;
  readonly #events: SessionEvents;
  readonly #keepEventsMs: number;
  readonly #active = new Map<string, ActiveRun>();
  readonly #waiting = new Map<string, Deferred<DurableOutcome>>();
  readonly #closing = new AbortController();
  /** Aborted at the end of `close()`. */
  readonly #closed = new AbortController();
  /** The starts, and looks for outcomes, that use the store now. */
  readonly #storeUses = new Set<Promise<void>>();
  readonly #starting = new EngineStart(this.#closing.signal);
  #polling: Promise<void> | undefined;
  #removeAt = 0;

  /**
   * Creates an engine.
   *
   * @throws {BadRequestError} If an option is invalid.
   */
  constructor(options: InProcessEngineOptions) {
    const { store, prefix = "durable-", pollMs = 1000, keepEventsMs = 300_000, now, sleep } =
      options ?? {};
    checkNames(options, OPTION_NAMES, "InProcessEngine");
    if (typeof store?.open !== "function") {
      throw new BadRequestError("InProcessEngine needs a session store, such as { store }");
    }
    if (!(pollMs > 0)) throw new BadRequestError("pollMs must be a number above 0");
    if (!(keepEventsMs >= 0)) throw new BadRequestError("keepEventsMs must be a number from 0");
    this.#pollMs = pollMs;
    this.#keepEventsMs = keepEventsMs;
    const clock = { now: now ?? systemClock.now, sleep: sleep ?? systemClock.sleep };
    this.#clock = clock;
    this.#runs = new RunStore(store, prefix);
    const storage = this.#events = new SessionEvents(store, prefix);
    this.#backend = {
      storage: {
        append: (events) => storage.append(events),
        read: (positions, limit) => this.#endOnClose(storage.read(positions, limit)),
        findCheckpoint: (id) => this.#endOnClose(storage.findCheckpoint(id)),
      },
      clock,
      hub: new EventHub({ storage, clock, pollMs }),
      getStatus: (id) => this.#endOnClose(this.#getStatus(id)),
      awaitOutcome: (id) => this.#endOnClose(this.#awaitOutcome(id)),
      sendMessage: (id, message) => this.#endOnClose(this.#sendMessage(id, message)),
    };
  }

  /** Registers the code of a workflow, before {@linkcode InProcessEngine.start}. */
  register<Input, Output>(
    name: string,
    workflow: WorkflowFunction<Input, Output>,
  ): DurableWorkflow<Input, Output> {
    return this.#registry.register(name, workflow);
  }

  /** Connects, and begins to continue the runs of processes that have ended. */
  async start(): Promise<void> {
    // The runs that it continues may start others before it has ended.
    await this.#endOnClose(this.#starting.run(() => this.#start()));
  }

  async #start(): Promise<void> {
    await this.#poll();
    this.#polling = this.#pollUntilClosed();
  }

  /** Returns a run by its id, whether it exists or not. */
  getRun<Output = unknown>(id: string): DurableRun<Output> {
    return new EngineRun(id, this.#backend);
  }

  /** Stops. Runs that are active here stay unfinished, and another process continues them. */
  async close(options: CloseEngineOptions = {}): Promise<void> {
    checkCloseOptions(options);
    const { graceMs } = options;
    this.#closing.abort(new EngineClosedError());
    const closed = this.#close(graceMs);
    await this.#closeTrackers(graceMs);
    await this.#waitForStore(closed);
    this.#closed.abort(new EngineClosedError());
    for (const { reject } of this.#waiting.values()) reject(new EngineClosedError());
    this.#waiting.clear();
  }

  /** Rejects a call of the application when `close()` ends, and a later one after a time, since the store may never answer. */
  async #endOnClose<Value>(call: Promise<Value>): Promise<Value> {
    const { signal } = this.#closed;
    if (!signal.aborted) return await abortable(call, signal);
    const timer = new AbortController();
    const expired = systemClock.sleep(ANSWER_MS, timer.signal)
      .then(() => Promise.reject(new EngineClosedError()));
    try {
      return await Promise.race([call, expired]);
    } finally {
      timer.abort();
    }
  }

  /** Waits for the end of the runs, while the store gives answers: they are continued from their records. */
  async #waitForStore(closed: Promise<void>): Promise<void> {
    for (let active = Infinity; this.#active.size < active;) {
      active = this.#active.size;
      const timer = new AbortController();
      const isClosed = await Promise.race([
        closed.then(() => true),
        systemClock.sleep(ANSWER_MS, timer.signal).then(() => false),
      ]);
      timer.abort();
      if (isClosed) return;
    }
    await this.#backend.hub.close({ limitMs: 0 });
    // Sessions for which the store still gives answers are unlocked, so that the next engine continues their runs.
    void this.#events.close();
    for (const { session } of this.#active.values()) void session.close().catch(() => {});
  }

  async #close(graceMs: number | undefined): Promise<void> {
    const closed = this.#closeActive(graceMs);
    await this.#starting.untilEnded();
    await Promise.all([this.#polling, ...this.#storeUses]);
    await closed;
    // A look into the store or a start may have begun a run meanwhile.
    await this.#closeActive(graceMs);
    await this.#backend.hub.close();
    await this.#events.close();
  }

  /** Closes the engine. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #closeTrackers(graceMs: number | undefined): Promise<void> {
    const active = [...this.#active.values()];
    await Promise.all(active.map(({ journal }) => journal.tracker.close({ graceMs })));
  }

  async #closeActive(graceMs: number | undefined): Promise<void> {
    const active = [...this.#active.values()];
    await this.#closeTrackers(graceMs);
    // The runs wait for their events, which another process publishes if they cannot be stored.
    this.#backend.hub.limitAttempts();
    await Promise.all(active.map(({ ended }) => ended));
  }

  readonly #startRun: StartRun = async ({ id, workflow, input }) => {
    this.#assertOpen();
    const start = { workflow, input, startedAt: this.#clock.now() };
    await abortable(this.#useStore(this.#create(id, start)), this.#closed.signal);
    return this.getRun(id);
  };

  /** Lets the end of the engine wait for a use of the store. */
  async #useStore(use: Promise<void>): Promise<void> {
    const ended = use.catch(() => {});
    this.#storeUses.add(ended);
    try {
      await use;
    } finally {
      this.#storeUses.delete(ended);
    }
  }

  async #create(id: string, start: RunStart): Promise<void> {
    const created = await this.#runs.create(id, start, this.#closing.signal);
    if (created) this.#execute(id, created);
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new EngineClosedError();
    if (!this.#starting.isCalled) throw new BadRequestError("Call start() of the engine first");
  }

  async #pollUntilClosed(): Promise<void> {
    const { signal } = this.#closing;
    while (true) {
      await this.#clock.sleep(this.#pollMs, signal);
      if (signal.aborted) return;
      // The store may be unavailable for a time.
      await this.#poll().catch(() => {});
    }
  }

  /** Continues the runs of processes that have ended, and reads messages and outcomes of other processes. */
  async #poll(): Promise<void> {
    const ids = new Set(await this.#runs.listActive());
    for (const id of this.#untilClosed(ids)) {
      // A run that cannot be read must not hold up the others; the next look tries again.
      await this.#look(id, this.#active.get(id)).catch(() => {});
    }
    // A failed start would also fail the runs that it has continued, which may start others.
    await this.#removeEvents().catch(() => {});
    for (const [id, { journal }] of this.#untilClosed(this.#active)) {
      if (ids.has(id) || !await this.#findOutcome(id)) continue;
      // The run waits here for a message that the process which has continued it has got.
      journal.tracker.detach("Another process has ended the run");
    }
    for (const [id, waiting] of this.#untilClosed(this.#waiting)) {
      if (this.#active.has(id) && ids.has(id)) continue;
      const outcome = await this.#findOutcome(id);
      if (outcome) this.#settle(id, waiting, outcome);
    }
  }

  /** Yields the present items until the engine is closed, since the store may take the longest time for each. */
  *#untilClosed<Item>(items: Iterable<Item>): Generator<Item> {
    for (const item of [...items]) {
      if (this.#closing.signal.aborted) return;
      yield item;
    }
  }

  /** Returns the outcome of a run, if it has ended and the store can be read. */
  async #findOutcome(id: string): Promise<DurableOutcome | undefined> {
    return await this.#runs.readOutcome(id).catch(() => undefined);
  }

  async #look(id: string, active: ActiveRun | undefined): Promise<void> {
    if (active) active.journal.inbox.add(await this.#runs.readMessages(id));
    else if (!this.#closing.signal.aborted) await this.#continue(id);
  }

  async #removeEvents(): Promise<void> {
    const { signal } = this.#closing;
    const now = this.#clock.now();
    if (signal.aborted || now < this.#removeAt) return;
    this.#removeAt = now + REMOVAL_MS;
    const active = new Set(await this.#runs.listActive());
    await this.#events.remove({ before: now - this.#keepEventsMs, active, signal });
  }

  async #continue(id: string): Promise<void> {
    const run = await this.#runs.open(id);
    if (!run) return;
    await closeOnError(run.session, async () => {
      const outcome = await this.#runs.readOutcome(id);
      if (outcome) return await this.#runs.finish(id, run, outcome);
      if (this.#registry.find(run.start.workflow)) return this.#execute(id, run);
      await run.session.close(); // A process that knows the workflow continues the run.
    });
  }

  /** Executes a run in the background. */
  #execute(id: string, run: OpenRun): void {
    const tracker = new StepTracker();
    const { hub } = this.#backend;
    const attempt = { detached: tracker.detached };
    const events = createRunEvents(id, { hub, storage: this.#events }, attempt);
    const journal = new SessionJournal(id, {
      run,
      events,
      tracker,
      store: this.#runs,
      now: this.#clock.now,
    });
    if (!run.isContinued) this.#events.start(id);
    const ended = this.#executeUntilEnd(journal, run)
      .catch(async () => {
        // A run that this process cannot finish is continued from its last step, by a process that can store events.
        journal.tracker.detach();
        this.#events.leave(id);
        await events.flush();
        await this.#events.release(id);
        await run.session.close().catch(() => {});
      })
      .finally(() => this.#active.delete(id));
    this.#active.set(id, { session: run.session, journal, ended });
    // The code of a run that another process continues does not begin here.
    if (this.#closing.signal.aborted) journal.tracker.detach();
  }

  async #executeUntilEnd(journal: SessionJournal, run: OpenRun): Promise<void> {
    const { runId } = journal;
    const { workflow: name, input } = run.start;
    const workflow = this.#registry.find(name);
    if (!workflow) throw new BadRequestError(`The workflow "${name}" is not registered`);
    journal.inbox.add(await this.#runs.readMessages(runId));
    journal.detached.throwIfAborted();
    // The code of a workflow may wait for something else than a step.
    const executing = executeRun(journal, { workflow, input, clock: this.#clock });
    const outcome = await abortable(executing, journal.detached);
    await this.#events.release(runId);
    await this.#runs.finish(runId, run, outcome);
    const waiting = this.#waiting.get(runId);
    if (waiting) this.#settle(runId, waiting, outcome);
  }

  async #getStatus(id: string): Promise<DurableStatus | undefined> {
    // The outcome is there before this process has finished with the run.
    const outcome = await this.#runs.readOutcome(id);
    if (outcome) return outcome.type;
    if (this.#active.has(id) || await this.#runs.isActive(id)) return "running";
    // The run may have ended between the two looks.
    return (await this.#runs.readOutcome(id))?.type;
  }

  async #awaitOutcome(id: string): Promise<DurableOutcome> {
    const waiting = this.#waiting.get(id) ?? createDeferred<DurableOutcome>();
    waiting.promise.catch(() => {});
    this.#waiting.set(id, waiting);
    // A store that gives no answer does not hold up the end of the engine.
    const lookup = this.#useStore(this.#lookUpOutcome(id, waiting));
    return await Promise.race([waiting.promise, lookup.then(() => waiting.promise)]);
  }

  async #lookUpOutcome(id: string, waiting: Deferred<DurableOutcome>): Promise<void> {
    const outcome = await this.#runs.readOutcome(id);
    if (outcome) this.#settle(id, waiting, outcome);
    else if (this.#closing.signal.aborted) waiting.reject(new EngineClosedError());
  }

  #settle(id: string, waiting: Deferred<DurableOutcome>, outcome: DurableOutcome): void {
    this.#waiting.delete(id);
    waiting.resolve(outcome);
  }

  async #sendMessage(id: string, message: RunMessage): Promise<void> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    if (!await this.#runs.appendMessage(id, message, signal)) throw createRefusal(id);
    this.#active.get(id)?.journal.inbox.add(await this.#runs.readMessages(id));
  }
}
