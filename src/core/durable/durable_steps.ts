/**
 * The steps of a durable run: effects whose results are recorded, so that another process can continue the run.
 *
 * @module
 */

import type { JsonValue } from "../json/json.ts";
import type { AgentMessage } from "../messages/message.ts";

/**
 * A message to a durable run, which any process can send.
 *
 * `steer` and `follow_up` are queued for the agent of the run, `abort` ends the run, and `signal` ends a wait of that
 * name.
 */
export type RunMessage =
  | { readonly type: "steer" | "follow_up"; readonly message: AgentMessage }
  | { readonly type: "abort"; readonly reason?: string | undefined }
  | { readonly type: "signal"; readonly name: string; readonly data: JsonValue };

/** A message that has arrived. */
export interface ReceivedMessage {
  /** Number of the message in its run, from 1. */
  readonly number: number;
  /** The message. */
  readonly message: RunMessage;
}

/** Context of a step while it executes; it is not used when the step is replayed. */
export interface StepContext {
  /** Aborted when the run is aborted, and for the operations of a race that another one has won. */
  readonly signal: AbortSignal;
}

/** Executes a step and returns its value, which must be JSON. */
export type ExecuteStep<Value> = (context: StepContext) => Value | Promise<Value>;

/** A step for {@linkcode DurableSteps.all} and {@linkcode DurableSteps.race}. */
export interface StepOperation<Value> {
  /** Name of the step, which must be the same in every replay. */
  readonly name: string;
  /** Executes the step. */
  readonly execute: ExecuteStep<Value>;
  /** Value that determines the step, such as its arguments; a replay with another one fails. Default: not checked. */
  readonly input?: unknown;
}

/** The operation that has won a race. */
export interface RaceWinner<Value> {
  /** Index of the operation. */
  readonly index: number;
  /** Its value. */
  readonly value: Value;
}

/** Operations with values of these types, in order. */
export type StepOperations<Values extends readonly unknown[]> = {
  readonly [Index in keyof Values]: StepOperation<Values[Index]>;
};

/** The values of operations, in order. */
export type StepValues<Values extends readonly unknown[]> = {
  -readonly [Index in keyof Values]: Values[Index];
};

/** Options for {@linkcode DurableSteps.run}. */
export interface StepOptions {
  /** Value that determines the step, such as its arguments; a replay with another one fails. Default: not checked. */
  readonly input?: unknown;
}

/** Options for {@linkcode DurableSteps.waitFor}. */
export interface WaitOptions {
  /** Maximum time, in milliseconds. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** Options for {@linkcode DurableSteps.publish}. */
export interface PublishOptions {
  /** Whether a reader that needs the present state only may begin with this event. Default: `false`. */
  readonly isCheckpoint?: boolean | undefined;
  /**
   * Text by which a replay recognizes the event, if its JSON differs from that of the first execution. Default: a hash of
   * the JSON without `seq` and times (`timestamp` and names that end in `Ms` or `At`), which differ in a replay.
   */
  readonly key?: string | undefined;
}

/**
 * The steps of a run. Each has a name and is executed once: when the run is replayed after a crash, the recorded value
 * is returned. A step that a crash has interrupted is executed again.
 *
 * The code between the steps must be deterministic: it begins the same steps in the same order in every replay. A replay
 * that differs rejects with a `DivergenceError`. Two steps are concurrent only within `all` or `race`.
 */
export interface DurableSteps {
  /** Id of the run. */
  readonly runId: string;
  /** Whether the latest steps came from the record, so that listeners have received their events before. */
  readonly isReplaying: boolean;
  /** Aborted when the run gets an `abort` message. */
  readonly signal: AbortSignal;
  /** Returns the time of the latest step, in milliseconds since the epoch: the same in every replay. */
  now(): number;
  /** Executes a step. Rejects with the error that it throws, of which the message is recorded. */
  run<Value>(name: string, execute: ExecuteStep<Value>, options?: StepOptions): Promise<Value>;
  /** Executes steps concurrently, and resolves to their values; rejects with the first error when all have ended. */
  all<Values extends readonly unknown[] | []>(
    operations: StepOperations<Values>,
  ): Promise<StepValues<Values>>;
  /** Executes operations concurrently as one step, which ends with the first of them. The others are aborted. */
  race<Values extends readonly unknown[] | []>(
    operations: StepOperations<Values>,
  ): Promise<RaceWinner<Values[number]>>;
  /**
   * Waits for a signal of that name, and returns its data; `undefined` if the time is over. Rejects with an
   * `AbortedError` when the run is aborted.
   */
  waitFor(name: string, options?: WaitOptions): Promise<JsonValue | undefined>;
  /**
   * Waits; the end is at the same time after a crash. Rejects with an `AbortedError` when the run is aborted, so that
   * what was to follow later does not follow at once.
   */
  sleep(name: string, milliseconds: number): Promise<void>;
  /**
   * Calls `listener` with each message but signals, at the same point in every replay: at the end of the step during
   * which the message has arrived. Returns a function that unsubscribes. A listener that throws or rejects fails the run.
   */
  onMessage(listener: (message: RunMessage) => void): () => void;
  /**
   * Refuses further messages, as the last step of a run: their senders get an error. Resolves to `false` if there are
   * messages that were not delivered: they are delivered now, and further ones are accepted. On Restate, later messages
   * have no effect instead.
   */
  refuseMessages(): Promise<boolean>;
  /**
   * Publishes an event for `DurableRun.events()` in any process. Events are stored in the background, in order, and all of
   * them before the run ends; a replay does not publish one again. Resolves when further events may be published: at once,
   * unless many are not stored yet. Rejects with a `BadRequestError` if the event is not JSON.
   */
  publish(event: unknown, options?: PublishOptions): Promise<void>;
}
