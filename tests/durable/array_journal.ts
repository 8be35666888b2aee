/**
 * A journal in memory, which can be cut after any step as a crash does.
 *
 * @module
 */

import type { RunMessage } from "../../src/core/durable/durable_steps.ts";
import { DivergenceError } from "../../src/core/errors/divergence_error.ts";
import type { JsonValue } from "../../src/core/json/json.ts";
import { MessageInbox } from "../../src/durable/steps/message_inbox.ts";
import { DetachedError, type StepJournal } from "../../src/durable/steps/step_journal.ts";

/** A recorded step. */
export interface RecordedStep {
  readonly position: number;
  readonly name: string;
  readonly value: JsonValue;
}

/** The steps of a run, in the order in which they were recorded. */
export class ArrayJournal implements StepJournal {
  readonly runId = "run-1";
  /** Time of the start, in milliseconds since the epoch. */
  startedAt = 1_000_000;
  readonly inbox: MessageInbox = new MessageInbox();
  /** The steps of this process and of those before it. */
  readonly records: RecordedStep[];
  /** Names of the steps that this process has executed. */
  readonly executed: string[] = [];
  /** Time for recording a step, in milliseconds. */
  recordMs = 0;
  /** Called when a step was recorded. */
  onRecord: () => void = () => {};
  readonly #replayed: ReadonlyMap<number, RecordedStep>;
  readonly #detach = new AbortController();
  readonly #crashAt: (name: string) => boolean;
  #position = 0;

  /** Creates a journal with the steps of earlier processes; `crashAt` selects the first step that is not recorded. */
  constructor(
    records: readonly RecordedStep[] = [],
    crashAt: (name: string) => boolean = () => false,
  ) {
    this.records = [...records];
    this.#replayed = new Map(records.map((record) => [record.position, record]));
    this.#crashAt = crashAt;
  }

  get isContinued(): boolean {
    return this.#replayed.size > 0;
  }

  get closing(): AbortSignal {
    return this.#detach.signal;
  }

  get detached(): AbortSignal {
    return this.#detach.signal;
  }

  /** Sends messages to the run. */
  send(...messages: readonly RunMessage[]): void {
    const { last } = this.inbox;
    this.inbox.add(messages.map((message, index) => ({ number: last + index + 1, message })));
  }

  async step(name: string, execute: () => Promise<JsonValue>): Promise<JsonValue> {
    const position = this.#position++;
    const recorded = this.#replayed.get(position);
    await Promise.resolve(); // As an engine that reads its record from a database.
    if (recorded) {
      if (recorded.name === name) return structuredClone(recorded.value);
      throw new DivergenceError(name, `the recorded step is "${recorded.name}"`);
    }
    const value = JSON.parse(JSON.stringify(await execute()));
    if (this.recordMs > 0) await new Promise((resolve) => setTimeout(resolve, this.recordMs));
    if (this.#crashAt(name)) this.#detach.abort(new DetachedError());
    this.#detach.signal.throwIfAborted();
    this.executed.push(name);
    this.records.push({ position, name, value });
    this.onRecord();
    return value;
  }
}
