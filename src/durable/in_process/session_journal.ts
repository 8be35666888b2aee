/**
 * The journal of a run in a session.
 *
 * @module
 */

import { DivergenceError } from "../../core/errors/divergence_error.ts";
import { getErrorMessage } from "../../core/errors/errors.ts";
import type { JsonValue } from "../../core/json/json.ts";
import type { RunEvents } from "../events/run_events.ts";
import { MessageInbox } from "../steps/message_inbox.ts";
import type { StepJournal } from "../steps/step_journal.ts";
import { StepTracker } from "../steps/step_tracker.ts";
import type { OpenRun, RunStore, StoredStep } from "./run_store.ts";

/** Parts of a {@linkcode SessionJournal}. */
export interface SessionJournalOptions {
  /** The run. */
  readonly run: OpenRun;
  /** Its events. */
  readonly events: RunEvents;
  /** Records its steps. */
  readonly store: RunStore;
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
  readonly tracker: StepTracker = new StepTracker();
  #position = 0;

  constructor(runId: string, { run, events, store }: SessionJournalOptions) {
    this.runId = runId;
    this.events = events;
    this.startedAt = run.start.startedAt;
    this.isContinued = run.isContinued;
    this.#run = run;
    this.#store = store;
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
    const isClosed = await this.#store.closeInbox(this.runId, last);
    if (!isClosed) this.inbox.add(await this.#store.readMessages(this.runId));
    return isClosed;
  }

  async #execute(
    { position, name }: Pick<StoredStep, "position" | "name">,
    execute: () => Promise<JsonValue>,
  ): Promise<JsonValue> {
    const value = await execute();
    this.detached.throwIfAborted();
    try {
      await this.#store.appendStep(this.#run, { position, name, value });
    } catch (error) {
      // Another process has the run, or the store cannot be written: it is continued from the last recorded step.
      this.tracker.detach(`Cannot record the step "${name}": ${getErrorMessage(error)}`);
      throw this.detached.reason;
    }
    return value;
  }
}
