/**
 * The events of a run that readers follow.
 *
 * @module
 */

import { abortable } from "../../core/ports/abortable.ts";
import type { EventStorage, StoredEvent } from "./event_storage.ts";
import { KeptEvents, ReadLimit } from "./kept_events.ts";

/** The latest records of a run, for all readers in this process. A reader that is behind them reads the storage. */
export class WatchedRun {
  readonly runId: string;
  readonly #storage: EventStorage;
  /** Number of readers. */
  readers = 0;
  readonly #kept = new KeptEvents();
  readonly #limit = new ReadLimit();
  /** Number of the last kept record; `undefined` until the first reader has chosen a position. */
  #last: number | undefined;
  /** Whether the storage had no further records when it was read last. */
  #isCurrent = false;
  /** Whether a record could not be kept since it was read last. */
  #hasMissed = false;
  readonly #closed = new AbortController();
  #version = 0;
  readonly #listeners = new Set<() => void>();

  constructor(runId: string, storage: EventStorage) {
    this.runId = runId;
    this.#storage = storage;
  }

  /** Number of the last record that is known. */
  get last(): number {
    return this.#last ?? 0;
  }

  /** Whether the engine was closed. */
  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** Whether records up to a number must be read from the storage. */
  lacks(number: number): boolean {
    if (this.#isCurrent) return number > this.last;
    // Readers read the storage until they have all records.
    this.#hasMissed = true;
    this.#wake();
    return false;
  }

  /** Makes the next reader read the storage, since records may be there that could not be read. */
  miss(): void {
    this.#isCurrent = false;
    this.#hasMissed = true;
  }

  /** Adds records; returns `false` if those between the last one and them must be read from the storage. */
  add(records: readonly StoredEvent[]): boolean {
    const last = this.#last ?? Infinity;
    const added = records.filter(({ number }) => number > last);
    const [first] = added;
    if (first?.number !== last + 1) return first === undefined || !this.lacks(first.number);
    this.#kept.add(added);
    this.#last = last + added.length;
    this.#wake();
    return true;
  }

  /**
   * Returns the next records after a number, of a limited number and length; none if there is none yet. Rejects when the
   * engine is closed, since the storage may never answer.
   */
  async read(after: number): Promise<readonly StoredEvent[]> {
    if (after > (this.#last ?? -1)) this.#startAt(after);
    const first = this.#kept.first ?? this.last + 1;
    if (after >= first - 1) {
      const kept = this.#kept.takeBatch(after + 1);
      if (kept.length > 0 || this.#isCurrent) return kept;
    }
    this.#hasMissed = false;
    // A reader that is slow has what it was given in memory.
    const limit = this.#limit.value;
    const reading = this.#storage.read([{ runId: this.runId, after }], limit);
    const found = await abortable(reading, this.#closed.signal);
    const records = found.get(this.runId) ?? [];
    this.#limit.adapt(records);
    this.add(records);
    const isComplete = records.length < limit && after + records.length >= this.last;
    if (isComplete && !this.#hasMissed) this.#isCurrent = true;
    return records;
  }

  /** Keeps the records after a number; readers that are behind read the storage. */
  #startAt(after: number): void {
    this.#last = after;
    this.#kept.clear();
    this.#isCurrent = false;
  }

  /** Number of changes, which a reader requests before it reads the records. */
  get version(): number {
    return this.#version;
  }

  /** Calls a listener with each change; returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends all readers. */
  close(): void {
    this.#closed.abort();
    this.#wake();
  }

  #wake(): void {
    this.#version++;
    for (const listener of [...this.#listeners]) listener();
  }
}
