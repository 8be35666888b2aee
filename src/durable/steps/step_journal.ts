/**
 * The interface of an engine to the steps of a run.
 *
 * @module
 */

import type { ReceivedMessage } from "../../core/durable/durable_steps.ts";
import type { JsonValue } from "../../core/json/json.ts";
import type { RunEvents } from "../events/run_events.ts";

/** The messages to a run, as far as they have arrived in this process. */
export interface RunInbox {
  /** Number of the last message; 0 if there is none. */
  readonly last: number;
  /** Returns the messages whose number is above `after`, in order. */
  read(after: number): readonly ReceivedMessage[];
  /** Calls `listener` when messages arrive; returns a function that unsubscribes. */
  onArrival(listener: () => void): () => void;
}

/** The record of a run, which an engine implements. */
export interface StepJournal {
  /** Id of the run. */
  readonly runId: string;
  /** Time of the start of the run, in milliseconds since the epoch: the same in every replay. */
  readonly startedAt: number;
  /** Whether steps may have been recorded before, by another process. */
  readonly isContinued: boolean;
  /** The messages to the run. */
  readonly inbox: RunInbox;
  /** The events that the run publishes. Default: they are dropped. */
  readonly events?: RunEvents | undefined;
  /** Aborted when this process must not begin to execute further steps of the run. */
  readonly closing: AbortSignal;
  /** Aborted when this process must no longer execute the run, with a {@linkcode DetachedError} as its reason. */
  readonly detached: AbortSignal;
  /**
   * Returns the recorded value of the next step, or else calls `execute` and resolves when its value is recorded. The
   * position of a step is determined when the method is called, before the first `await`.
   *
   * Rejects with a `DivergenceError` if the record has another name at this position, and with a
   * {@linkcode DetachedError} if the value cannot be recorded.
   */
  step(name: string, execute: () => Promise<JsonValue>): Promise<JsonValue>;
  /**
   * Lets no message follow the one with the number `last`; resolves to `false`, when they have arrived, if there are some
   * already. A second call has the same effect. Default: messages are accepted until the run has ended.
   */
  closeInbox?(last: number): Promise<boolean>;
  /** Whether a step can be recorded while another one is executed. Default: `true`. */
  readonly recordsConcurrently?: boolean;
  /**
   * Resolves when `isAwaited` returns `true` after a message has arrived, or after that many milliseconds, at the same point
   * in every replay: for engines that suspend a run meanwhile. Default: the step after it waits.
   */
  awaitMessage?(milliseconds: number | undefined, isAwaited: () => boolean): Promise<void>;
}

/** This process must no longer execute a run: its engine was closed, or another process continues the run. */
export class DetachedError extends Error {
  constructor(message = "The run is no longer executed by this process") {
    super(message);
    this.name = "DetachedError";
  }
}
