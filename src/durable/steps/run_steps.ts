/**
 * The steps of a run over the journal of an engine.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import type {
  DurableSteps,
  ExecuteStep,
  PublishOptions,
  RaceWinner,
  ReceivedMessage,
  RunMessage,
  StepOperations,
  StepOptions,
  StepValues,
  WaitOptions,
} from "../../core/durable/durable_steps.ts";
import { AbortedError, BadRequestError } from "../../core/errors/errors.ts";
import type { JsonValue } from "../../core/json/json.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { type Clock, systemClock } from "../../core/ports/ports.ts";
import { checkDuration } from "./check_duration.ts";
import { executeRace } from "./execute_race.ts";
import { findEndedCall } from "./find_ended_call.ts";
import { MessageDelivery } from "./message_delivery.ts";
import { RunPublisher } from "./run_publisher.ts";
import { type BegunOperation, type EndedStep, StepExecutor } from "./step_executor.ts";
import type { StepJournal } from "./step_journal.ts";
import { unwrapOutcome } from "./step_record.ts";

/** The longest wait that is one step; after a crash it begins again. */
const SHORT_SLEEP_MS = 10_000;

/** The steps of a run, with the parts that a durable agent uses. */
export class RunSteps implements DurableSteps {
  readonly #journal: StepJournal;
  readonly #clock: Clock;
  readonly #messages: MessageDelivery;
  readonly #publisher: RunPublisher;
  readonly #executor: StepExecutor;
  #refusals = 0;
  #agents = 0;

  /** Creates the steps of a run whose code begins. */
  constructor(journal: StepJournal, clock: Clock = systemClock) {
    this.#journal = journal;
    this.#clock = clock;
    const messages = new MessageDelivery(journal.inbox, (error) => this.#executor.fail(error));
    const { events, isContinued, detached } = journal;
    const publisher = new RunPublisher({ events, isContinued, detached, sleep: clock.sleep });
    this.#messages = messages;
    this.#publisher = publisher;
    this.#executor = new StepExecutor({ journal, clock, messages, publisher });
  }

  get runId(): string {
    return this.#journal.runId;
  }

  /** Time of the start of the run, in milliseconds since the epoch. */
  get startedAt(): number {
    return this.#journal.startedAt;
  }

  get isReplaying(): boolean {
    return this.#executor.isReplaying;
  }

  get signal(): AbortSignal {
    return this.#messages.signal;
  }

  /** Whether a step can be recorded while another one is executed. */
  get recordsConcurrently(): boolean {
    return this.#journal.recordsConcurrently ?? true;
  }

  /** Whether this process executes a step that does not only wait. */
  get isExecuting(): boolean {
    return this.#executor.isExecuting;
  }

  /** Whether this process no longer executes the run. */
  get isDetached(): boolean {
    return this.#journal.detached.aborted;
  }

  /** Why the run cannot be continued here: it differs from its record, or was detached. */
  get failure(): Error | undefined {
    return this.#executor.failure;
  }

  /** Ids of the calls of the present batch whose results came from the record, while others may be executed. */
  readonly replayedCalls: Set<string> = new Set();

  /** The agents of the run that run now, which get its messages. */
  readonly runningAgents: Set<object> = new Set();

  /** Returns the number of an agent of the run, from 1. */
  addAgent(): number {
    return ++this.#agents;
  }

  now(): number {
    return this.#executor.now;
  }

  /** Returns the time of the clock of the engine, which is another one in a replay. */
  readClock(): number {
    return this.#clock.now();
  }

  /** Sets the time within a step, such as that of the first token of a reply, which the step records. */
  advance(time: number): void {
    this.#executor.advance(time);
  }

  /** Returns the messages that have arrived and are not delivered yet; different in every replay. */
  get arrived(): readonly ReceivedMessage[] {
    return this.#messages.arrived;
  }

  /** Calls `listener` when a message arrives, which is not at the same point in every replay. */
  onArrival(listener: () => void): () => void {
    return this.#journal.inbox.onArrival(listener);
  }

  onMessage(listener: (message: RunMessage) => void): () => void {
    return this.#messages.onMessage(listener);
  }

  async refuseMessages(): Promise<boolean> {
    const name = `messages: end ${++this.#refusals}`;
    const before = this.#messages.last;
    const isRefused = await this.run(name, async () => {
      const { last } = this.#messages;
      if (this.#journal.closeInbox) return await this.#journal.closeInbox(last);
      return this.#journal.inbox.last <= last;
    });
    // Where the inbox cannot be closed, a message may arrive before the step has ended.
    return isRefused && this.#messages.last === before;
  }

  async publish(event: unknown, options: PublishOptions = {}): Promise<void> {
    // Another process executes the run and publishes its events.
    if (this.failure || this.#journal.detached.aborted) return;
    const isReplayed = this.isReplaying || this.#endsReplayedCall(event);
    await this.#publisher.publish(event, { ...options, isReplayed });
  }

  /** Whether an event ends a call whose result came from the record. */
  #endsReplayedCall(event: unknown): boolean {
    const id = this.replayedCalls.size > 0 ? findEndedCall(event) : undefined;
    return id !== undefined && this.replayedCalls.has(id);
  }

  /** Marks the end of the run for readers of its events, if it has published some or always; resolves when it is stored. */
  async endEvents(options: { readonly isAlways: boolean }): Promise<void> {
    await this.#publisher.end(options);
  }

  async run<Value>(
    name: string,
    execute: ExecuteStep<Value>,
    options: StepOptions = {},
  ): Promise<Value> {
    const [started] = this.begin([{ ...options, name, execute }]);
    return await finish<Value>(started);
  }

  async all<Values extends readonly unknown[] | []>(
    operations: StepOperations<Values>,
  ): Promise<StepValues<Values>> {
    const ended = await Promise.allSettled(this.begin(operations).map(finish<unknown>));
    const values = ended.map((result) => {
      if (result.status === "rejected") throw result.reason;
      return result.value;
    });
    return values as StepValues<Values>;
  }

  async race<Values extends readonly unknown[] | []>(
    operations: StepOperations<Values>,
  ): Promise<RaceWinner<Values[number]>> {
    if (operations.length === 0) throw new BadRequestError("A race needs at least one operation");
    const names = operations.map(({ name }) => name).join(" | ");
    const input = operations.map((operation) => operation.input ?? null);
    return await this.run(names, (context) => executeRace(operations, context), { input });
  }

  async waitFor(name: string, options: WaitOptions = {}): Promise<JsonValue | undefined> {
    checkNames(options, ["timeoutMs"], "waitFor()");
    const { timeoutMs } = options;
    if (timeoutMs !== undefined) checkDuration("timeoutMs", timeoutMs);
    const end = timeoutMs === undefined ? undefined : this.now() + timeoutMs;
    const isAwaited = ({ message }: ReceivedMessage) =>
      message.type === "signal" && message.name === name;
    await this.waitUntil(`wait for ${name}`, { isAwaited, end });
    return this.takeSignal(name);
  }

  /** Returns the data of a signal that was delivered and not taken yet. */
  takeSignal(name: string): JsonValue | undefined {
    const data = this.#messages.takeSignal(name);
    if (data === undefined) this.#throwIfAborted();
    return data;
  }

  /** Begins an approval that a signal decides, without the signals that were for an earlier one. */
  beginApproval(signal: string): void {
    this.#messages.beginApproval(signal);
  }

  #throwIfAborted(): void {
    const { aborted, reason } = this.signal;
    if (aborted) throw new AbortedError(undefined, { cause: reason });
  }

  /**
   * Waits for a message, for the end of the time or for the abort, unless the message was delivered or the run aborted
   * already.
   */
  async waitUntil(
    name: string,
    { isAwaited, end }: {
      readonly isAwaited: (received: ReceivedMessage) => boolean;
      readonly end?: number | undefined;
    },
  ): Promise<void> {
    if (this.signal.aborted || this.#messages.hasSignal(isAwaited)) return;
    await this.#suspend(isAwaited, end);
    const execute: ExecuteStep<null> = async ({ signal }) => {
      await this.#untilArrived(isAwaited, { end, signal });
      return null;
    };
    const [started] = this.begin([{ name, execute, isWait: true }]);
    await finish(started);
  }

  /** Waits for a message to arrive, for the end of the time or for the abort. */
  async #untilArrived(
    isAwaited: (received: ReceivedMessage) => boolean,
    { end, signal }: { readonly end: number | undefined; readonly signal: AbortSignal },
  ): Promise<void> {
    const ended = createDeferred<void>();
    const check = () => this.arrived.some(isAwaited) && ended.resolve();
    const unsubscribe = this.onArrival(check);
    const timer = new AbortController();
    signal.addEventListener("abort", () => ended.resolve());
    if (signal.aborted) ended.resolve();
    if (end !== undefined) {
      const wait = Math.max(0, end - this.#clock.now());
      void this.#clock.sleep(wait, timer.signal).then(() => ended.resolve());
    }
    check();
    await ended.promise;
    unsubscribe();
    timer.abort();
  }

  /** Waits as the engine does, if it can suspend the run. The step after it then ends at once. */
  async #suspend(
    isAwaited: (received: ReceivedMessage) => boolean,
    end: number | undefined,
  ): Promise<void> {
    if (!this.#journal.awaitMessage) return;
    const isEnd = (received: ReceivedMessage) =>
      isAwaited(received) || received.message.type === "abort";
    // An engine cannot record a time without an end.
    const isLimited = end !== undefined && end !== Infinity;
    const milliseconds = isLimited ? Math.max(0, end - this.now()) : undefined;
    const isOver = () => this.arrived.some(isEnd);
    // A run that is suspended publishes nothing until a message comes.
    await this.#publisher.flush();
    if (!isOver()) await this.#journal.awaitMessage(milliseconds, isOver);
  }

  async sleep(name: string, milliseconds: number): Promise<void> {
    checkDuration("The time of sleep()", milliseconds);
    await this.pause(name, milliseconds);
    this.#throwIfAborted();
  }

  /** Waits like `sleep()`, and ends early when the run is aborted. */
  async pause(name: string, milliseconds: number): Promise<void> {
    if (this.signal.aborted) return;
    if (milliseconds <= SHORT_SLEEP_MS) {
      await this.run(
        name,
        ({ signal }) => this.#clock.sleep(milliseconds, signal).then(() => null),
      );
      return;
    }
    // The step before a wait determines its end, which is then the same in every replay.
    await this.run(`${name}: start`, () => null);
    const end = this.now() + milliseconds;
    await this.waitUntil(name, { isAwaited: () => false, end });
  }

  /**
   * Begins steps in this order, which are concurrent. Their promises resolve in the order in which they have ended in the
   * first execution, each when the one before it is released; the messages of each are delivered by the caller.
   */
  begin(operations: readonly BegunOperation[]): Promise<EndedStep>[] {
    return this.#executor.begin(operations);
  }
}

async function finish<Value>(started: Promise<EndedStep> | undefined): Promise<Value> {
  if (!started) throw new BadRequestError("No step was started");
  const { outcome, deliver, release } = await started;
  deliver();
  release();
  return unwrapOutcome(outcome) as Value;
}
