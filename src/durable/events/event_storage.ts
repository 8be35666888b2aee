/**
 * The published events of runs, as an engine stores them.
 *
 * @module
 */

import type { PublishedEvent } from "../../core/durable/durable_engine.ts";
import type { JsonValue } from "../../core/json/json.ts";

/**
 * The content of a record. `end` follows the last event of a run; `continued` separates the events of two processes.
 */
export type EventContent =
  | {
    readonly type: "event" | "checkpoint";
    readonly event: JsonValue;
    /** Text by which a replay recognizes the event. */
    readonly key: string;
  }
  | { readonly type: "continued" | "end" };

/** An execution of a run, which publishes its events until another one does. */
export interface RunAttempt {
  /** Number that the storage has given it; `undefined` until it has been noted there. */
  number?: number;
  /** Aborted when this process no longer executes the run. */
  readonly detached: AbortSignal;
}

/** A record that is not stored yet. */
export type NewEvent = EventContent & {
  /** Id of the run. */
  readonly runId: string;
  /** The execution that has published it, if the storage distinguishes them. */
  readonly attempt?: RunAttempt;
};

/** A record. */
export type StoredEvent = EventContent & {
  /** Number of the record in its run, from 1, without gaps. */
  readonly number: number;
};

/** A position in the records of a run. */
export interface EventPosition {
  /** Id of the run. */
  readonly runId: string;
  /** Number of the last record before the position; 0 at the beginning. */
  readonly after: number;
}

/** Stores the records of runs, for all processes. */
export interface EventStorage {
  /**
   * Appends records of any runs, in order; resolves to the number of each. A call that is repeated with the same objects,
   * after it has rejected, does not append again what is stored.
   */
  append(events: readonly NewEvent[]): Promise<readonly number[]>;
  /**
   * Notes an execution of a run: records of earlier ones are no longer stored, and get the number 0. Default: the storage
   * knows by itself which process executes a run.
   */
  begin?(runId: string, attempt: RunAttempt): Promise<void>;
  /** Returns the records after some positions, at most `limit` for each; the order of the runs does not matter. */
  read(
    positions: readonly EventPosition[],
    limit: number,
  ): Promise<ReadonlyMap<string, readonly StoredEvent[]>>;
  /** Returns the number before the latest checkpoint of a run; 0 if it has none. */
  findCheckpoint(runId: string): Promise<number>;
}

/** Returns the records that readers of a run get. */
export function toPublished(stored: readonly StoredEvent[]): readonly PublishedEvent[] {
  return stored.flatMap((record): PublishedEvent[] => {
    const { number } = record;
    switch (record.type) {
      case "event":
      case "checkpoint":
        return [{ type: "event", number, event: record.event }];
      case "continued":
        return [{ type: "continued", number }];
      case "end":
        return [];
    }
  });
}
