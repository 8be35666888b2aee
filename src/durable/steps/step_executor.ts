/**
 * The execution of the steps of a run, which the journal of an engine records.
 *
 * @module
 */

import type { StepOperation } from "../../core/durable/durable_steps.ts";
import { DivergenceError } from "../../core/errors/divergence_error.ts";
import { getErrorMessage } from "../../core/errors/errors.ts";
import type { JsonValue } from "../../core/json/json.ts";
import { abortable } from "../../core/ports/abortable.ts";
import type { Clock } from "../../core/ports/ports.ts";
import { findEndedCall } from "./find_ended_call.ts";
import { hashJson } from "./hash_json.ts";
import { createAbort, type MessageDelivery } from "./message_delivery.ts";
import type { RunPublisher } from "./run_publisher.ts";
import { type GroupMember, StepGroup } from "./step_group.ts";
import { DetachedError, type StepJournal } from "./step_journal.ts";
import { captureOutcome, parseRecord, type StepOutcome, type StepRecord } from "./step_record.ts";

/** A step that has ended. */
export interface EndedStep {
  /** Its value or error. */
  readonly outcome: StepOutcome;
  /** Time of its end, in milliseconds since the epoch. */
  readonly at: number;
  /** Whether it came from the record. */
  readonly isReplayed: boolean;
  /** Calls the listeners with the messages that arrived during the step; a second call has no effect. */
  readonly deliver: () => void;
  /** Lets the next of the concurrent steps be reported, when the effect of this one is complete. */
  readonly release: () => void;
}

/** A step that begins. */
export interface BegunOperation extends StepOperation<unknown> {
  /** Whether the step only waits. Default: `false`. */
  readonly isWait?: boolean;
  /** Whether the caller advances the time to the end of the step, after times within it. Default: `false`. */
  readonly hasTimes?: boolean;
}

/** The parts of a run that the execution of its steps needs. */
export interface StepExecutorParts {
  /** Records the steps. */
  readonly journal: StepJournal;
  /** The clock of the engine. */
  readonly clock: Clock;
  /** The messages to the run. */
  readonly messages: MessageDelivery;
  /** Publishes the events of the run. */
  readonly publisher: RunPublisher;
}

/** Executes the steps of a run, or takes them from its record. */
export class StepExecutor {
  readonly #journal: StepJournal;
  readonly #clock: Clock;
  readonly #messages: MessageDelivery;
  readonly #publisher: RunPublisher;
  #now: number;
  #executing = 0;
  #isReplaying: boolean;
  #failure: Error | undefined;

  /** Creates the execution of a run whose code begins. */
  constructor({ journal, clock, messages, publisher }: StepExecutorParts) {
    this.#journal = journal;
    this.#clock = clock;
    this.#messages = messages;
    this.#publisher = publisher;
    this.#now = journal.startedAt;
    this.#isReplaying = journal.isContinued;
  }

  /** Whether no step was executed by this process yet, and the run was continued. */
  get isReplaying(): boolean {
    return this.#isReplaying;
  }

  /** Whether this process executes a step that does not only wait. */
  get isExecuting(): boolean {
    return this.#executing > 0;
  }

  /** Why the run cannot be continued here: it differs from its record, was detached, or a listener of messages threw. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Ends the execution of the run here; the first failure counts. */
  fail(error: Error): void {
    this.#failure ??= error;
  }

  /** Time of the latest step that has ended, in milliseconds since the epoch: the same in every replay. */
  get now(): number {
    return this.#now;
  }

  /** Advances the time, also to one within a step, such as that of the first token of a reply, which the step records. */
  advance(time: number): void {
    this.#now = Math.max(this.#now, time);
  }

  /**
   * Begins steps in this order, which are concurrent. Their promises resolve in the order in which they have ended in the
   * first execution, each when the one before it is released; the messages of each are delivered by the caller.
   */
  begin(operations: readonly BegunOperation[]): Promise<EndedStep>[] {
    const group = new StepGroup(operations.length);
    return operations.map((operation) => {
      const ended = this.#begin(operation, group);
      ended.catch(() => {}); // The caller may await it only later.
      return ended;
    });
  }

  async #begin(operation: BegunOperation, group: StepGroup): Promise<EndedStep> {
    const { name } = operation;
    const { closing } = this.#journal;
    if (closing.aborted) this.fail(closing.reason);
    if (this.#failure) throw this.#failure;
    const input = operation.input === undefined ? undefined : hashJson(operation.input);
    const member = group.join();
    try {
      const execute = () => this.#executeMember(operation, { member, input });
      const recorded = await this.#journal.step(name, execute);
      const record = parseRecord(name, recorded, input);
      await member.resolve(record.order);
      const { failure } = this;
      if (failure instanceof DivergenceError) throw failure;
      const { interrupted } = record;
      if (member.isReplayed && interrupted !== undefined) {
        this.#publisher.skipInterrupted(interrupted, (event) => findEndedCall(event) !== undefined);
      }
      if (!operation.hasTimes) this.advance(record.at);
      return this.#createEnd(record, member);
    } catch (thrown) {
      member.fail();
      if (isFatal(thrown)) this.fail(thrown);
      throw thrown;
    }
  }

  /** Executes a step of a group, and returns its record. */
  async #executeMember(
    operation: BegunOperation,
    { member, input }: { readonly member: GroupMember; readonly input: string | undefined },
  ): Promise<JsonValue> {
    try {
      const classified = member.execute();
      if (classified) await classified;
      this.#journal.closing.throwIfAborted();
      this.#isReplaying = false;
      const options = { input, order: () => member.end() };
      const record = await this.#execute(this.#getExecuted(operation), options);
      // The attempt ends with the step, and the next one may read the stored events in another process.
      const { recordsConcurrently } = this.#journal;
      if (recordsConcurrently === false) await this.#publisher.flush().catch(() => {});
      // Outcomes are JSON already; the cast drops only the types of their parts.
      return record as unknown as JsonValue;
    } catch (thrown) {
      // The journal may wait until the concurrent steps are recorded.
      member.fail();
      throw thrown;
    }
  }

  /** Returns the operation, or one without an effect if a step that has begun with it differs from its record. */
  #getExecuted(operation: BegunOperation): BegunOperation {
    const failure = this.#failure;
    if (!(failure instanceof DivergenceError)) return operation;
    return { ...operation, execute: () => Promise.reject(failure) };
  }

  async #execute(
    operation: BegunOperation,
    { input, order }: {
      readonly input: string | undefined;
      readonly order: () => Promise<number | null>;
    },
  ): Promise<StepRecord> {
    const outcome = await this.#executeUntilDetached(operation);
    const interrupted = await this.#publisher.findInterrupted();
    const position = await order();
    const messages = this.#messages.arrived;
    return {
      at: Math.max(this.#clock.now(), this.#now),
      ...(position !== null && { order: position }),
      ...(input !== undefined && { input }),
      ...(interrupted !== undefined && { interrupted }),
      ...(messages.length > 0 && { messages }),
      ...outcome,
    };
  }

  /**
   * Calls the function of a step, which an abort of the run aborts. Rejects when this process must no longer execute the
   * run: an effect that was interrupted with it must not be recorded as failed.
   */
  async #executeUntilDetached({ execute, isWait }: BegunOperation): Promise<StepOutcome> {
    const { closing } = this.#journal;
    // A wait has no effect that must end.
    const detached = isWait ? closing : this.#journal.detached;
    const abort = new AbortController();
    const onDetach = () => abort.abort(detached.reason);
    const onArrival = () => {
      const found = this.#messages.arrived.find(({ message }) => message.type === "abort");
      if (found) abort.abort(createAbort(found.message));
    };
    detached.addEventListener("abort", onDetach);
    const unsubscribe = this.#journal.inbox.onArrival(onArrival);
    onArrival();
    if (detached.aborted) onDetach();
    const count = isWait ? 0 : 1;
    this.#executing += count;
    try {
      const executing = captureOutcome(() => execute({ signal: abort.signal }), closing);
      const ended = executing.catch((error) => {
        throw new DetachedError(getErrorMessage(error));
      });
      return await abortable(ended, detached);
    } finally {
      this.#executing -= count;
      unsubscribe();
      detached.removeEventListener("abort", onDetach);
    }
  }

  #createEnd(record: StepRecord, { isReplayed, release }: GroupMember): EndedStep {
    const deliver = () => record.messages?.forEach((received) => this.#messages.deliver(received));
    return { outcome: record, at: record.at, isReplayed, deliver, release };
  }
}

/** Whether an error ends the execution of the run in this process; other errors are those of a step. */
function isFatal(thrown: unknown): thrown is Error {
  return thrown instanceof DivergenceError || thrown instanceof DetachedError;
}
