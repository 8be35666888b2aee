/**
 * The events that earlier processes have stored, among which a replay finds those that it emits.
 *
 * @module
 */

import type { JsonValue } from "../../core/json/json.ts";
import type { StoredEvent } from "../events/event_storage.ts";

type StoredRunEvent = Extract<StoredEvent, { readonly key: string }>;

/** The stored records of a run, and the place in them that a replay has reached. */
export class StoredEvents {
  /** The records that the replay has not reached, in reverse order. */
  readonly #ahead: StoredEvent[];
  /** Numbers of the events ahead, by their keys: a search for each event of a long replay would take minutes. */
  readonly #counts = new Map<string, number>();
  /** Events that the replay has passed without emitting them, by their keys. */
  readonly #passed = new Map<string, StoredRunEvent[]>();

  /** Creates them from the records of a run, in order; the replay has reached none. */
  constructor(records: readonly StoredEvent[]) {
    this.#ahead = records.toReversed();
    for (const record of records) if ("key" in record) this.#count(record.key, 1);
  }

  /** The last record, if the replay has not reached it. */
  get last(): StoredEvent | undefined {
    return this.#ahead[0];
  }

  /** Whether a record with a type that the predicate selects is ahead. */
  hasAhead(isSelected: (type: StoredEvent["type"]) => boolean): boolean {
    return this.#ahead.some(({ type }) => isSelected(type));
  }

  /**
   * Whether an event with a key is ahead, which the replay then reaches, or has been passed: events that have no order, as
   * the arrival of a message and the end of a reply, may be emitted in another one.
   */
  take(key: string): boolean {
    if (!this.#counts.has(key)) return this.#passed.get(key)?.shift() !== undefined;
    for (let record = this.#next(); record; record = this.#next()) {
      if (!("key" in record)) continue;
      if (record.key === key) return true;
      this.#keep(record);
    }
    return false;
  }

  /**
   * Passes the records up to a number, and forgets the passed events that are not selected. Returns whether there was one
   * to pass; otherwise nothing changes.
   */
  skip(number: number, isKept: (event: JsonValue) => boolean): boolean {
    const isAhead = () => (this.#ahead.at(-1)?.number ?? Infinity) <= number;
    if (!isAhead()) return false;
    while (isAhead()) {
      const record = this.#next();
      if (record && "key" in record) this.#keep(record);
    }
    for (const [key, records] of this.#passed) {
      const kept = records.filter(({ event }) => isKept(event));
      if (kept.length > 0) this.#passed.set(key, kept);
      else this.#passed.delete(key);
    }
    return true;
  }

  /** Returns the next record, which the replay reaches. */
  #next(): StoredEvent | undefined {
    const record = this.#ahead.pop();
    if (record && "key" in record) this.#count(record.key, -1);
    return record;
  }

  #count(key: string, change: 1 | -1): void {
    const count = (this.#counts.get(key) ?? 0) + change;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }

  #keep(record: StoredRunEvent): void {
    const passed = this.#passed.get(record.key);
    if (passed) passed.push(record);
    else this.#passed.set(record.key, [record]);
  }
}
