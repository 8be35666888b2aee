/**
 * The journal of a run in a session.
 *
 * @module
 */

import { DivergenceError } from "../../core/errors/divergence_error.ts";
import type { JsonValue } from "../../core/json/json.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { RunEvents } from "../events/run_events.ts";
import { MessageInbox } from "../steps/message_inbox.ts";
import type { StepJournal } from "../steps/step_journal.ts";
import { CLOSE_FAILURE, type StepTracker } from "../steps/step_tracker.ts";
import type { OpenRun, RunStore, StoredStep } from "./run_store.ts";

/** Time after which a process that was suspended may have lost a run, in milliseconds. */
const OWNED_MS = 1_000;

/** Parts of a {@linkcode SessionJournal}. */
export interface SessionJournalOptions {
  /** The run. */
  readonly run: OpenRun;
  /** Its events. */
  readonly events: RunEvents;
  /** Counts its steps. */
  readonly tracker: StepTracker;
  /** Records its steps. */
  readonly store: RunStore;
  /** Returns the time. */
  readonly now: Clock["now"];
}

/** The journal of a run that this process executes. */
export class SessionJournal implements StepJournal {
  readonly runId: string;
  readonly startedAt: number;
  readonly isContinued: boolean;
  readonly events: RunEvents;
  readonly inbox: MessageInbox = new MessageInbox();
  readonly #store: RunStore;
  readonly #run: OpenRun;
  readonly tracker: StepTracker;
  readonly #now: Clock["now"];
  #position = 0;
  /** Time at which this process had the run for sure. */
  #ownedAt: number;
  #checking: Promise<void> | undefined;

  constructor(runId: string, { run, events, tracker, store, now }: SessionJournalOptions) {
    this.runId = runId;
    this.events = events;
    this.tracker = tracker;
    this.startedAt = run.start.startedAt;
    this.isContinued = run.isContinued;
    this.#run = run;
    this.#store = store;
    this.#now = now;
    this.#ownedAt = now();
  }

  get closing(): AbortSignal {
    return this.tracker.closing;
  }

  get detached(): AbortSignal {
    return this.tracker.detached;
  }

  async step(name: string, execute: () => Promise<JsonValue>): Promise<JsonValue> {
    const position = this.#position++;
    const recorded = this.#run.steps.get(position);
    if (recorded) {
      if (recorded.name === name) return recorded.value;
      throw new DivergenceError(name, `the recorded step is "${recorded.name}"`);
    }
    return await this.tracker.track(this.#execute({ position, name }, execute));
  }

  async closeInbox(last: number): Promise<boolean> {
    return await this.tracker.detachOnError(CLOSE_FAILURE, async () => {
      const isClosed = await this.#store.closeInbox(this.runId, last, this.detached);
      if (!isClosed) this.inbox.add(await this.#store.readMessages(this.runId));
      return isClosed;
    });
  }

  async #execute(
    { position, name }: Pick<StoredStep, "position" | "name">,
    execute: () => Promise<JsonValue>,
  ): Promise<JsonValue> {
    await this.#assertOwned(name);
    const value = await execute();
    this.detached.throwIfAborted();
    await this.#write(
      `Cannot record the step "${name}"`,
      () => this.#store.appendStep(this.#run, { position, name, value }),
    );
    return value;
  }

  /** Checks after some time that no other process has the run, which may have recorded the step. */
  async #assertOwned(name: string): Promise<void> {
    if (Math.abs(this.#now() - this.#ownedAt) < OWNED_MS) return;
    this.#checking ??= this.#write(
      `Cannot begin the step "${name}"`,
      () => this.#store.assertOwned(this.#run),
    ).finally(() => this.#checking = undefined);
    await this.#checking;
  }

  /** Writes to the session of the run, which another process may have: it continues from the last recorded step. */
  async #write(failure: string, write: () => Promise<void>): Promise<void> {
    const beganAt = this.#now();
    await this.tracker.detachOnError(failure, write);
    this.#ownedAt = beganAt;
  }
}
