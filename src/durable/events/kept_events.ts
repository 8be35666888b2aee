/**
 * The latest records of a run that are in memory.
 *
 * @module
 */

import type { StoredEvent } from "./event_storage.ts";
import { measureJson } from "./measure_json.ts";

/** Number of records that are kept, and of their characters. */
const MAX_KEPT = 1_024;
const MAX_KEPT_LENGTH = 8_000_000;
/** Maximum number of records that a reader gets at once, and of the characters of all but the last one. */
const MAX_BATCH = 256;
const MAX_BATCH_LENGTH = 500_000;
/** Number of records that are read from the storage first. */
const FIRST_LIMIT = 16;

interface KeptEvent {
  readonly record: StoredEvent;
  readonly length: number;
}

/** The latest records of a run, as far as their number and their length allow. */
export class KeptEvents {
  #kept: KeptEvent[] = [];
  #length = 0;

  /** Number of the first record; `undefined` if none is kept. */
  get first(): number | undefined {
    return this.#kept[0]?.record.number;
  }

  /** Adds records that follow those before. */
  add(records: readonly StoredEvent[]): void {
    for (const record of records) {
      const length = getLength(record);
      this.#kept.push({ record, length });
      this.#length += length;
    }
    // Half of them at a time, since removing one moves all others.
    if (this.#kept.length <= 2 * MAX_KEPT && this.#length <= 2 * MAX_KEPT_LENGTH) return;
    let start = Math.max(0, this.#kept.length - MAX_KEPT);
    let length = 0;
    for (let index = this.#kept.length - 1; index >= start; index--) {
      length += this.#kept[index]?.length ?? 0;
      if (length > MAX_KEPT_LENGTH) start = index + 1;
    }
    this.#kept = this.#kept.slice(start);
    this.#length = this.#kept.reduce((sum, kept) => sum + kept.length, 0);
  }

  /** Returns the next records from a number, which is not below that of the first one. */
  takeBatch(from: number): readonly StoredEvent[] {
    const start = from - (this.first ?? from);
    const batch: StoredEvent[] = [];
    let length = 0;
    for (let index = start; index < this.#kept.length && batch.length < MAX_BATCH; index++) {
      const kept = this.#kept[index];
      if (!kept || length > MAX_BATCH_LENGTH) break;
      batch.push(kept.record);
      length += kept.length;
    }
    return batch;
  }

  /** Removes all records. */
  clear(): void {
    this.#kept = [];
    this.#length = 0;
  }
}

/** The number of records to read from the storage, which depends on the length of those that were read last. */
export class ReadLimit {
  #limit = FIRST_LIMIT;

  /** The number for the next read. */
  get value(): number {
    return this.#limit;
  }

  /** Adapts the number to the records of a read. */
  adapt(records: readonly StoredEvent[]): void {
    const length = records.reduce((sum, record) => sum + getLength(record), 0);
    this.#limit = length > MAX_BATCH_LENGTH
      ? Math.max(1, Math.floor(records.length * MAX_BATCH_LENGTH / length))
      : Math.min(MAX_BATCH, 2 * this.#limit);
  }
}

function getLength(record: StoredEvent): number {
  return "event" in record ? measureJson(record.event) : 0;
}
