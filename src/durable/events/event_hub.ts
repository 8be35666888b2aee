/**
 * The published events of the runs of a process: those that it stores, and those that it reads.
 *
 * All runs share the statements of the storage. The records that are published while others are stored follow
 * together, so that the number of statements depends on the storage and not on the number of runs.
 *
 * @module
 */

import { createDeferred, type Deferred } from "../../core/ports/deferred.ts";
import type { Clock } from "../../core/ports/ports.ts";
import { startTimer } from "../../core/ports/start_timer.ts";
import type { EventContent, EventStorage, NewEvent, RunAttempt } from "./event_storage.ts";
import { isUnreachable } from "./is_unreachable.ts";
import { WatchedRun } from "./watched_run.ts";

/** Maximum number of records of a statement, and of their characters; a larger record has a statement of its own. */
const MAX_BATCH = 1_000;
const MAX_BATCH_LENGTH = 8_000_000;
/** Number of records that wait, and of their characters, at which runs are held up. */
const MAX_WAITING = 10_000;
const MAX_WAITING_LENGTH = 64_000_000;
/** Number of attempts to store records that a storage refuses, and the pause between two of them, in milliseconds. */
const MAX_ATTEMPTS = 5;
const RETRY_MS = 500;

/** Time in which events are stored when an engine is closed whose storage may be out of reach, in milliseconds. */
export const STORE_MS = 2_000;

/** Options for {@linkcode EventHub}. */
export interface EventHubOptions {
  /** The storage. */
  readonly storage: EventStorage;
  /** Time and timers. */
  readonly clock: Clock;
  /** Time after which the runs that are read are looked up again, in milliseconds; `Infinity` never. */
  readonly pollMs: number;
}

interface Waiting {
  readonly event: NewEvent;
  /** Number of characters of the event as JSON. */
  readonly length: number;
  readonly stored: Deferred<void>;
}

/** Stores and reads the events of runs. */
export class EventHub {
  readonly #options: EventHubOptions;
  readonly #watched = new Map<string, WatchedRun>();
  readonly #changed = new Set<string>();
  /** The records that are not stored yet, and the promise of the last one of each run. */
  #waiting: Waiting[] = [];
  #waitingLength = 0;
  readonly #lastStored = new Map<string, Promise<void>>();
  #isWriting = false;
  #isReading = false;
  /** Time since which attempts are limited, and the number of those that have failed since. */
  #limitedAt: number | undefined;
  #lateFailures = 0;
  #isClosed = false;
  #capacity: Deferred<void> | undefined;
  #stopTimer: (() => void) | undefined;

  constructor(options: EventHubOptions) {
    this.#options = options;
  }

  /** Stores a record in the background; resolves when further ones may be added. */
  async append(runId: string, content: EventContent, attempt?: RunAttempt): Promise<void> {
    const stored = createDeferred<void>();
    const length = "event" in content ? JSON.stringify(content.event).length : 0;
    const event = { ...content, runId, ...(attempt && { attempt }) };
    this.#waiting.push({ event, length, stored });
    this.#waitingLength += length;
    const { promise } = stored;
    this.#lastStored.set(runId, promise);
    void promise.then(() => {
      if (this.#lastStored.get(runId) === promise) this.#lastStored.delete(runId);
    });
    if (!this.#isWriting) void this.#write();
    if (!this.#isFull) return;
    this.#capacity ??= createDeferred();
    await this.#capacity.promise;
  }

  /** Resolves when all records of a run are stored. */
  async flush(runId: string): Promise<void> {
    await this.#lastStored.get(runId);
  }

  /** Begins to follow a run; the caller closes it. */
  watch(runId: string): WatchedRun {
    const watched = this.#watched.get(runId) ?? new WatchedRun(runId, this.#options.storage);
    this.#watched.set(runId, watched);
    watched.readers++;
    // A reader that comes late would wait for events that nothing reads.
    if (this.#isClosed) watched.close();
    this.#startTimer();
    return watched;
  }

  /** Ends the use of a run by a reader. */
  unwatch(watched: WatchedRun): void {
    if (--watched.readers > 0) return;
    this.#watched.delete(watched.runId);
    if (this.#watched.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** Reads the new records of runs that another process has changed: those up to a number, or all. */
  notify(changes: Iterable<readonly [runId: string, last: number]>): void {
    for (const [runId, last] of changes) {
      if (this.#watched.get(runId)?.lacks(last)) this.#changed.add(runId);
    }
    if (this.#changed.size > 0 && !this.#isReading) void this.#read();
  }

  /** Reads the new records of all runs that are followed. */
  notifyAll(): void {
    this.notify([...this.#watched.keys()].map((runId) => [runId, Infinity] as const));
  }

  /**
   * Limits the attempts to store what waits while the storage cannot be reached, also of several statements, to some in
   * {@linkcode STORE_MS}. The runs of an engine that is closed continue elsewhere; a replay publishes their events, apart
   * from those that a recorded step has published.
   */
  limitAttempts(): void {
    this.#limitedAt ??= this.#options.clock.now();
  }

  /** Stores the records that wait, and ends all readers. Default of `limitMs`: as long as the limited attempts take. */
  async close({ limitMs }: { readonly limitMs?: number } = {}): Promise<void> {
    this.limitAttempts();
    const stored = Promise.all(this.#lastStored.values());
    if (limitMs === undefined) await stored;
    else await this.#waitFor(stored, limitMs);
    this.#isClosed = true;
    this.#stopTimer?.();
    for (const watched of this.#watched.values()) watched.close();
  }

  async #waitFor(stored: Promise<unknown>, limitMs: number): Promise<void> {
    const timer = new AbortController();
    await Promise.race([stored, this.#options.clock.sleep(limitMs, timer.signal)]);
    timer.abort();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    // Records that are published in the same moment are stored together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      await this.#store(batch);
      for (const { stored } of batch) stored.resolve();
      if (this.#isFull) continue;
      this.#capacity?.resolve();
      this.#capacity = undefined;
    }
    this.#isWriting = false;
  }

  get #isFull(): boolean {
    return this.#waiting.length >= MAX_WAITING || this.#waitingLength >= MAX_WAITING_LENGTH;
  }

  /** Removes the records of the next statement from those that wait: at least one. */
  #takeBatch(): readonly Waiting[] {
    let count = 0;
    let length = 0;
    for (const waiting of this.#waiting) {
      if (count === MAX_BATCH || count > 0 && length + waiting.length > MAX_BATCH_LENGTH) break;
      count++;
      length += waiting.length;
    }
    this.#waitingLength -= length;
    const batch = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    return batch;
  }

  async #store(batch: readonly Waiting[]): Promise<void> {
    const { storage, clock } = this.#options;
    const events = batch.map(({ event }) => event);
    for (let refusals = 0; refusals < MAX_ATTEMPTS;) {
      try {
        const numbers = await storage.append(events);
        events.forEach((event, index) => this.#deliver(event, numbers[index] ?? 0));
        return;
      } catch (error) {
        if (this.#isClosed) return;
        if (isUnreachable(error)) {
          if (this.#limitedAt !== undefined) this.#lateFailures++;
          if (this.#isExpired) return this.#giveUpWaiting();
        } else {
          // The records of the runs do not depend on their events, which are given up if the storage refuses them.
          refusals++;
        }
        if (refusals < MAX_ATTEMPTS) await clock.sleep(RETRY_MS);
      }
    }
  }

  /** Whether no attempt follows those that have failed since the limit. */
  get #isExpired(): boolean {
    if (this.#limitedAt === undefined) return false;
    const waitedMs = this.#options.clock.now() - this.#limitedAt;
    return this.#lateFailures >= MAX_ATTEMPTS || waitedMs >= STORE_MS;
  }

  #giveUpWaiting(): void {
    for (const { stored } of this.#waiting) stored.resolve();
    this.#waiting = [];
    this.#waitingLength = 0;
  }

  #deliver({ runId, attempt: _, ...content }: NewEvent, number: number): void {
    const watched = this.#watched.get(runId);
    if (watched && !watched.add([{ ...content, number }])) this.notify([[runId, number]]);
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    while (this.#changed.size > 0 && !this.#isClosed) {
      const runs = [...this.#changed].flatMap((runId) => this.#watched.get(runId) ?? []);
      this.#changed.clear();
      const positions = runs.map(({ runId, last }) => ({ runId, after: last }));
      try {
        const found = await this.#options.storage.read(positions, MAX_BATCH);
        for (const watched of runs) {
          const events = found.get(watched.runId) ?? [];
          watched.add(events);
          if (events.length === MAX_BATCH) this.#changed.add(watched.runId);
        }
      } catch {
        // The readers of these runs get the events with the next look, or when the storage is back.
        for (const watched of runs) watched.miss();
        break;
      }
    }
    this.#isReading = false;
  }

  #startTimer(): void {
    const { clock, pollMs } = this.#options;
    if (this.#stopTimer || pollMs === Infinity || this.#isClosed) return;
    this.#stopTimer = startTimer(clock, pollMs, () => {
      this.#stopTimer = undefined;
      this.notifyAll();
      if (this.#watched.size > 0) this.#startTimer();
    });
  }
}
