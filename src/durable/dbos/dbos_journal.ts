/**
 * The journal of a run in a DBOS workflow.
 *
 * @module
 */

import { DivergenceError } from "../../core/errors/divergence_error.ts";
import { getErrorMessage } from "../../core/errors/errors.ts";
import type { JsonValue } from "../../core/json/json.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { systemClock } from "../../core/ports/ports.ts";
import type { RunEvents } from "../events/run_events.ts";
import { MessageInbox } from "../steps/message_inbox.ts";
import { DetachedError, type StepJournal } from "../steps/step_journal.ts";
import { CLOSE_FAILURE, StepTracker } from "../steps/step_tracker.ts";
import type { Dbos } from "./npm_packages.ts";

/** Time in which the statements for the steps of a run end, and pause between two looks, in milliseconds. */
const IDLE_MS = 5_000;
const IDLE_PAUSE_MS = 5;

/** Calls a function in the asynchronous context of a workflow. */
export type RunInContext = <Value>(call: () => Value) => Value;

/** Options for {@linkcode DbosJournal}. */
export interface DbosJournalOptions {
  /** Id of the run, which is that of the workflow. */
  readonly runId: string;
  /** Time of the start, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Whether another process may have executed the run before. */
  readonly isContinued: boolean;
  /** Its events. */
  readonly events: RunEvents;
  /** The package. */
  readonly dbos: Dbos;
  /** Lets no message follow one; resolves to `false`, when they have arrived, if there are some already. */
  readonly closeInbox: (last: number) => Promise<boolean>;
  /** The context of the workflow. DBOS finds the workflow of a step by it. */
  readonly runInContext: RunInContext;
}

/** The journal of a run that this process executes. */
export class DbosJournal implements StepJournal {
  readonly runId: string;
  readonly startedAt: number;
  readonly isContinued: boolean;
  readonly events: RunEvents;
  readonly inbox: MessageInbox = new MessageInbox();
  readonly #dbos: Dbos;
  readonly #runInContext: RunInContext;
  readonly #closeInbox: DbosJournalOptions["closeInbox"];
  readonly tracker: StepTracker = new StepTracker();
  #failure: unknown;
  #statements = 0;

  constructor(
    { runId, startedAt, isContinued, events, dbos, closeInbox, runInContext }: DbosJournalOptions,
  ) {
    this.#closeInbox = closeInbox;
    this.runId = runId;
    this.events = events;
    this.startedAt = startedAt;
    this.isContinued = isContinued;
    this.#dbos = dbos;
    this.#runInContext = runInContext;
  }

  get closing(): AbortSignal {
    return this.tracker.closing;
  }

  get detached(): AbortSignal {
    return this.tracker.detached;
  }

  /** The error of DBOS that has ended the execution by this process, if one has. */
  get failure(): unknown {
    return this.#failure;
  }

  async closeInbox(last: number): Promise<boolean> {
    return await this.tracker.detachOnError(CLOSE_FAILURE, () => this.#closeInbox(last));
  }

  async step(given: string, execute: () => Promise<JsonValue>): Promise<JsonValue> {
    // A model names tools, and Postgres refuses some characters, however often the step is repeated.
    const name = given.replaceAll("\0", "\\0").toWellFormed();
    const detaching = createDeferred<never>();
    const onDetach = () => detaching.reject(this.detached.reason);
    detaching.promise.catch(() => {});
    this.detached.addEventListener("abort", onDetach);
    if (this.detached.aborted) onDetach();
    try {
      const recorded = this.#runInContext(() =>
        this.#dbos.runStep(() => this.#executeUntilDetached(execute), { name })
      );
      this.#count(1);
      // It may reject after the run was detached.
      recorded.catch(() => {}).finally(() => this.#count(-1));
      return await this.tracker.track(Promise.race([recorded, detaching.promise]));
    } catch (error) {
      if (error instanceof DetachedError) throw error;
      const recordedName = readRecordedName(error);
      if (recordedName !== undefined) {
        throw new DivergenceError(name, `the recorded step is "${recordedName}"`);
      }
      // Another process has the run, the workflow was cancelled, or the step cannot be recorded.
      this.#failure ??= error;
      this.tracker.detach(`Cannot record the step "${name}": ${getErrorMessage(error)}`);
      throw this.detached.reason;
    } finally {
      this.detached.removeEventListener("abort", onDetach);
    }
  }

  /** Detaches the run when its steps have ended. DBOS would repeat the statements that the end of the engine interrupts. */
  async close(graceMs: number | undefined): Promise<void> {
    await this.tracker.close({ graceMs });
    for (let waitedMs = 0; this.#statements > 0 && waitedMs < IDLE_MS; waitedMs += IDLE_PAUSE_MS) {
      await systemClock.sleep(IDLE_PAUSE_MS);
    }
  }

  /** Counts the steps that DBOS looks up or records; one that is executed needs no statement. */
  #count(change: 1 | -1): void {
    this.#statements += change;
  }

  /** Never settles once the run is detached, since DBOS would record a rejection as the result of the step. */
  async #executeUntilDetached(execute: () => Promise<JsonValue>): Promise<JsonValue> {
    this.#count(-1);
    try {
      const value = await execute();
      this.#count(1);
      return value;
    } catch (error) {
      if (!(error instanceof DetachedError)) {
        this.#count(1);
        throw error;
      }
      this.tracker.abandon(error.message);
      return await new Promise<never>(() => {});
    }
  }
}

/** The code of the error of DBOS for a step that was recorded with another name. */
const UNEXPECTED_STEP = 26;

/** Returns the name of the recorded step if an error is that of a step with another name. */
function readRecordedName(error: unknown): string | undefined {
  const { dbosErrorCode } = error as { readonly dbosErrorCode?: unknown };
  if (dbosErrorCode !== UNEXPECTED_STEP) return undefined;
  const [, name] = /function (.*) was recorded when/s.exec(getErrorMessage(error)) ?? [];
  return name ?? "another one";
}
