/**
 * The journal of a run in a session.
 *
 * @module
 */

import { DivergenceError } from "../../core/divergence_error.ts";
import { getErrorMessage } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import { MessageInbox } from "../steps/message_inbox.ts";
import { DetachedError, type StepJournal } from "../steps/step_journal.ts";
import type { OpenRun, RunStore } from "./run_store.ts";

/** The journal of a run that this process executes. */
export class SessionJournal implements StepJournal {
  readonly runId: string;
  readonly startedAt: number;
  readonly isContinued: boolean;
  readonly inbox: MessageInbox = new MessageInbox();
  readonly #store: RunStore;
  readonly #run: OpenRun;
  readonly #detach = new AbortController();
  #position = 0;

  constructor(runId: string, run: OpenRun, store: RunStore) {
    this.runId = runId;
    this.startedAt = run.start.startedAt;
    this.isContinued = run.steps.size > 0;
    this.#run = run;
    this.#store = store;
  }

  get detached(): AbortSignal {
    return this.#detach.signal;
  }

  /** Ends the execution of the run by this process. */
  detach(message?: string): void {
    this.#detach.abort(new DetachedError(message));
  }

  async step(name: string, execute: () => Promise<JsonValue>): Promise<JsonValue> {
    const position = this.#position++;
    const recorded = this.#run.steps.get(position);
    if (recorded) {
      if (recorded.name === name) return recorded.value;
      throw new DivergenceError(name, `the recorded step is "${recorded.name}"`);
    }
    const value = await execute();
    this.detached.throwIfAborted();
    try {
      await this.#store.appendStep(this.#run, { position, name, value });
    } catch (error) {
      // Another process has the run, or the store cannot be written: it is continued from the last recorded step.
      this.detach(`Cannot record the step "${name}": ${getErrorMessage(error)}`);
      throw this.detached.reason;
    }
    return value;
  }
}
