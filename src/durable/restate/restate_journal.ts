/**
 * The journal of a run in a workflow of Restate.
 *
 * @module
 */

import type { RunMessage } from "../../core/durable/durable_steps.ts";
import { DivergenceError } from "../../core/errors/divergence_error.ts";
import { StreamError } from "../../core/errors/errors.ts";
import type { JsonValue } from "../../core/json/json.ts";
import { abortable } from "../../core/ports/abortable.ts";
import { createDeferred, type Deferred } from "../../core/ports/deferred.ts";
import type { RunEvents } from "../events/run_events.ts";
import { MessageInbox } from "../steps/message_inbox.ts";
import { DetachedError, type StepJournal } from "../steps/step_journal.ts";
import type { StepTracker } from "../steps/step_tracker.ts";
import type { RestateContext, RestatePackage, RestatePromise } from "./restate_package.ts";

/** A step as it is recorded. Restate itself only knows its position: another name would end the attempt, not the run. */
interface NamedStep {
  readonly name: string;
  readonly value: JsonValue;
}

/** The end of a promise of the journal. */
interface Completion {
  readonly key: string;
  readonly value?: unknown;
  readonly failure?: Error | undefined;
}

/** A promise of the journal that something waits for. */
interface Awaited {
  readonly promise: RestatePromise<Completion>;
  readonly settle: (completion: Completion) => void;
}

/** Options for {@linkcode RestateJournal}. */
export interface RestateJournalOptions {
  /** Time of the start of the run, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Its events. */
  readonly events: RunEvents;
  /** The package. */
  readonly restate: RestatePackage;
  /** Whether Restate records a step while the request continues; otherwise at its end. */
  readonly bidirectional: boolean;
  /** Counts its steps. */
  readonly tracker: StepTracker;
}

/** Returns the name of the promise that a message resolves. */
export function getMessageName(number: number): string {
  return `message ${number}`;
}

/**
 * The journal of a run. Restate allows one wait at a time: all promises of the journal are awaited by one loop, with
 * Restate's own `race`, whose order a replay repeats.
 */
export class RestateJournal implements StepJournal {
  readonly runId: string;
  readonly startedAt: number;
  /** An attempt of Restate cannot know whether there was one before. */
  readonly isContinued = true;
  readonly events: RunEvents;
  readonly recordsConcurrently: boolean;
  readonly inbox: MessageInbox = new MessageInbox();
  readonly #context: RestateContext;
  readonly #restate: RestatePackage;
  readonly tracker: StepTracker;
  readonly #awaited = new Map<string, Awaited>();
  #changed: Deferred<void> = createDeferred();
  #position = 0;
  #waits = 0;
  /** Number of waits of the code for a message, with which Restate may suspend the run. */
  #suspending = 0;

  constructor(
    context: RestateContext,
    { startedAt, events, restate, bidirectional, tracker }: RestateJournalOptions,
  ) {
    this.tracker = tracker;
    this.recordsConcurrently = bidirectional;
    this.runId = context.key;
    this.events = events;
    this.startedAt = startedAt;
    this.#context = context;
    this.#restate = restate;
  }

  get closing(): AbortSignal {
    return this.tracker.closing;
  }

  get detached(): AbortSignal {
    return this.tracker.detached;
  }

  async step(name: string, execute: () => Promise<JsonValue>): Promise<JsonValue> {
    const key = `step ${this.#position++}`;
    const promise = this.#context.run(key, async () => ({
      name,
      value: await this.#executeUntilDetached(execute),
    }));
    const recorded = await this.tracker.track(this.#await(key, promise)) as NamedStep;
    if (recorded?.name === name) return recorded.value;
    throw new DivergenceError(name, `the recorded step is "${recorded?.name}"`);
  }

  /** Waits for a message or the end of the time, so that Restate can suspend the run meanwhile. */
  async awaitMessage(
    milliseconds: number | undefined,
    isAwaited: () => boolean,
  ): Promise<void> {
    const key = `wait ${this.#waits++}`;
    const ended = createDeferred<void>();
    this.#suspending++;
    // The time continues when another message arrives.
    const unsubscribe = this.inbox.onArrival(() => isAwaited() && ended.resolve());
    if (milliseconds !== undefined) {
      void this.#await(key, this.#context.sleep(milliseconds)).then(
        () => ended.resolve(),
        ended.reject,
      );
    }
    this.#awaitNextMessage();
    this.#changed.resolve();
    await ended.promise;
    this.#suspending--;
    unsubscribe();
    this.#awaited.delete(key);
  }

  /** Settles the promises of the journal until the workflow ends. */
  async drive<Outcome>(workflow: Promise<Outcome>): Promise<Outcome> {
    let isEnded = false;
    this.detached.addEventListener("abort", () => this.#changed.resolve());
    const end = () => {
      isEnded = true;
      this.#changed.resolve();
    };
    workflow.then(end, end);
    while (!isEnded && !this.detached.aborted) {
      if (this.#awaited.size > 0 || this.#suspending > 0) this.#awaitNextMessage();
      if (this.#isIdle) {
        // The code does something else; what it awaits next could not be added to a race.
        await this.#changed.promise;
        this.#changed = createDeferred();
        continue;
      }
      const race = [...this.#awaited.values()].map(({ promise }) => promise);
      const first = this.#restate.RestatePromise.race(race);
      // A promise that ends with the run would keep the values of all steps until then.
      const completion = await abortable(first, this.detached);
      const awaited = this.#awaited.get(completion.key);
      this.#awaited.delete(completion.key);
      awaited?.settle(completion);
      // The code that waits continues, and begins its next step, before the next race.
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    if (this.detached.aborted) throw this.detached.reason;
    return await workflow;
  }

  /** Whether the code waits for no promise of the journal. */
  get #isIdle(): boolean {
    if (this.#suspending > 0) return false;
    const next = getMessageName(this.inbox.last + 1);
    return [...this.#awaited.keys()].every((key) => key === next);
  }

  /** Adds the next message to the promises that are awaited, unless it is one of them. */
  #awaitNextMessage(): void {
    const number = this.inbox.last + 1;
    const key = getMessageName(number);
    if (this.#awaited.has(key)) return;
    const promise = this.#context.promise<RunMessage>(key).get();
    void this.#await(key, promise).then(
      (message) => this.inbox.add([{ number, message: message as RunMessage }]),
      () => {},
    );
  }

  #await(key: string, promise: RestatePromise<unknown>): Promise<unknown> {
    const { promise: settled, resolve, reject } = createDeferred<unknown>();
    settled.catch(() => {});
    this.#awaited.set(key, {
      promise: promise.map((value, failure) => ({ key, value, failure })),
      settle: ({ value, failure }) =>
        failure ? reject(new StreamError(failure.message, { cause: failure })) : resolve(value),
    });
    this.#changed.resolve();
    return settled;
  }

  /** Never settles once the run is detached, since Restate would execute a rejected step again. */
  async #executeUntilDetached(execute: () => Promise<JsonValue>): Promise<JsonValue> {
    try {
      return await execute();
    } catch (error) {
      if (!(error instanceof DetachedError)) throw error;
      this.tracker.abandon(error.message);
      return await new Promise<never>(() => {});
    }
  }
}
