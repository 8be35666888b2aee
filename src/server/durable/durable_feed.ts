/**
 * The events of one session for one client, from the log of the session and from what its runs publish.
 *
 * Both are the same in every process, so that a client can connect again to any of them. The order is that of the run: it
 * publishes when its messages are in the log, and the entries follow there.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { Clock } from "../../core/ports/ports.ts";
import { startTimer } from "../../core/ports/start_timer.ts";
import type { SessionActivity } from "../../core/sessions/session_activity.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import type { EventsOptions, FeedItem } from "../runner/agent_runner.ts";
import { BatchSize, MAX_BATCH_LENGTH } from "../runner/batch_size.ts";
import { formatCursor, type LivePosition, parseCursor } from "../runner/event_cursor.ts";
import { createItem } from "../runner/feed_item.ts";
import { hasPosition, type PositionedEntry, readEntries } from "../runner/stored_session.ts";
import { getRunId } from "./get_run_id.ts";
import { type NumberedRecord, RunActivity, toRecords } from "./run_record.ts";
import type { SessionRuns } from "./session_runs.ts";

/** The position of a client that has got no events of a run, and gets those of the next one from the beginning. */
const BEFORE_RUN: LivePosition = { epoch: "0", seq: 0 };

/** Options for {@linkcode DurableFeed}. */
export interface DurableFeedOptions extends EventsOptions {
  /** The runs of the session. */
  readonly runs: SessionRuns;
  /** Time after which the log is read again, in milliseconds; `Infinity` never. */
  readonly pollMs: number;
  /** Timers. */
  readonly clock: Clock;
}

/** Merges the log of a session with the events of its runs. */
export class DurableFeed {
  readonly #options: DurableFeedOptions;
  readonly #stopped = new AbortController();
  readonly #batches = new BatchSize();
  #position = 0;
  #entryId = "";
  /**
   * The position in the events of the run that the client gets or has got last, so that it gets those of the next run from the
   * beginning. Without one, it gets the state of the next run, and the events after it.
   */
  #live: LivePosition | undefined;
  /** JSON of the state that the client has. */
  #state: string | undefined;

  constructor(options: DurableFeedOptions) {
    this.#options = options;
  }

  /** Yields the events in batches. Ends with an item `end` when the session has been deleted. */
  async *read(): AsyncGenerator<readonly FeedItem[], void> {
    const { signal, ending } = this.#options;
    const stop = () => this.#stopped.abort();
    // All events are stored, so that the client gets the rest from another process.
    for (const source of [signal, ending]) {
      if (source.aborted) stop();
      source.addEventListener("abort", stop);
    }
    try {
      const isKnown = await this.#seek();
      if (!isKnown) yield [createItem("reset", {})];
      else if (this.#live && this.#live !== BEFORE_RUN) yield* this.#follow(this.#live);
      while (!this.#stopped.signal.aborted) yield* this.#readNext();
    } catch (thrown) {
      if (!(thrown instanceof SessionError) || thrown.reason !== "not_found") throw thrown;
      yield [createItem("end", { reason: "session_deleted" })];
    } finally {
      for (const source of [signal, ending]) source.removeEventListener("abort", stop);
      stop();
    }
  }

  /** Goes to the position of the client; returns `false` if the log does not have it. */
  async #seek(): Promise<boolean> {
    const { after, runs } = this.#options;
    const cursor = after === undefined ? undefined : parseCursor(after);
    if (!cursor) return true;
    const isKnown = await runs.withSession((session) => hasPosition(session, cursor));
    if (!isKnown) return false;
    this.#position = cursor.position;
    this.#entryId = cursor.entryId;
    if (cursor.live) this.#live = await this.#checkPosition(cursor.live);
    return true;
  }

  /** Returns a position that comes from the client; `undefined` unless it is one that a client can have got. */
  async #checkPosition(live: LivePosition): Promise<LivePosition | undefined> {
    const { runs } = this.#options;
    if (live.epoch === BEFORE_RUN.epoch) return BEFORE_RUN;
    if (!await runs.isOwn(live.epoch)) return undefined;
    const latest = await runs.readLatest(live.epoch);
    const isReached = live.seq <= (latest.at(-1)?.number ?? 0);
    return isReached ? live : undefined;
  }

  /** Yields the next entries, the events of the next run, or waits for one of them. */
  async *#readNext(): AsyncGenerator<readonly FeedItem[], void> {
    const state = await this.#options.runs.look();
    if (!hasPosition(state, { position: this.#position, entryId: this.#entryId })) {
      this.#startAgain();
      return yield [createItem("reset", {})];
    }
    const { active } = state;
    const isNext = active !== undefined && active.runId !== this.#live?.epoch;
    const isBehind = state.outline.length > this.#position;
    if (isNext && !this.#live) {
      yield* this.#readLog(Math.min(active.position, state.outline.length));
      const position = { epoch: active.runId, seq: active.checkpoint };
      return yield* this.#follow(position, { isNew: true });
    }
    if (isBehind) {
      const next = yield* this.#readLog(state.outline.length);
      if (next !== undefined) yield* this.#follow({ epoch: next, seq: 0 });
      return;
    }
    if (isNext) return yield* this.#follow({ epoch: active.runId, seq: 0 });
    this.#live ??= BEFORE_RUN;
    const isNews = this.#state !== JSON.stringify(state.activity);
    if (isNews) return yield [this.#createState(state.activity)];
    await this.#wait(state.nextId);
  }

  /** Yields the events of a run after a position until it ends. */
  async *#follow(
    position: LivePosition,
    { isNew = false }: { readonly isNew?: boolean } = {},
  ): AsyncGenerator<readonly FeedItem[], void> {
    const { runs } = this.#options;
    const { epoch: runId, seq } = position;
    this.#live = position;
    const tracked = new RunActivity(runId);
    const known = seq > 0 ? await runs.readLatest(runId) : [];
    for (const record of known) if (record.number <= seq) tracked.apply(record);
    if (isNew) yield [this.#createState(tracked.get())];
    const { signal } = this.#stopped;
    for await (const batch of runs.follow(runId, { after: seq, signal })) {
      yield* this.#toBatches(toRecords(batch), tracked);
    }
  }

  /** Yields the items of records, split where they are too long for a batch. */
  async *#toBatches(
    records: readonly NumberedRecord[],
    tracked: RunActivity,
  ): AsyncGenerator<readonly FeedItem[], void> {
    let items: FeedItem[] = [];
    let length = 0;
    for (const record of records) {
      tracked.apply(record);
      const live = { epoch: tracked.runId, seq: record.number };
      for (const item of await this.#toItems(record, { live, tracked })) {
        length += item.data.length;
        items.push(item);
      }
      this.#live = live;
      if (length <= MAX_BATCH_LENGTH) continue;
      yield items;
      items = [];
      length = 0;
    }
    if (items.length > 0) yield items;
  }

  /** Returns the items of a record. Those of entries have the position before the record, apart from the last one. */
  async #toItems(
    { number, record }: NumberedRecord,
    { live, tracked }: { readonly live: LivePosition; readonly tracked: RunActivity },
  ): Promise<readonly FeedItem[]> {
    switch (record.type) {
      case "agent": {
        const data = JSON.stringify({ ...record.event, seq: number });
        return [{ type: record.event.type, id: this.#formatId(live), data }];
      }
      case "saved": {
        const items: FeedItem[] = [];
        for await (const batch of this.#readLog(record.position, { isOwn: true })) {
          items.push(...batch);
        }
        const last = items.at(-1);
        return last ? [...items.slice(0, -1), { ...last, id: this.#formatId(live) }] : [];
      }
      case "begin":
      case "continued":
      case "approval_awaited":
      case "approval_settled":
        return [this.#createState(tracked.get(), live)];
      case "finished":
        return [];
    }
  }

  /**
   * Yields the entries up to a position. Stops at the entry of another run whose events the client has not got, and returns
   * its id.
   */
  async *#readLog(
    to: number,
    { isOwn = false }: { readonly isOwn?: boolean } = {},
  ): AsyncGenerator<readonly FeedItem[], string | undefined> {
    const { runs } = this.#options;
    while (this.#position < to && !this.#stopped.signal.aborted) {
      const end = Math.min(to, this.#position + this.#batches.count);
      const entries = await runs.withSession((session) =>
        readEntries(session, this.#position, end)
      );
      if (entries.length === 0) return undefined;
      const items: FeedItem[] = [];
      let next: string | undefined;
      let length = 0;
      for (const positioned of entries) {
        if (length > MAX_BATCH_LENGTH) break;
        next = isOwn || !this.#live ? undefined : this.#getNextRun(positioned.entry);
        if (next !== undefined && await runs.isOwn(next)) break;
        next = undefined;
        for (const item of this.#toEntryItem(positioned)) {
          length += item.data.length;
          items.push(item);
        }
      }
      this.#batches.adapt(items.length, length);
      if (items.length > 0) yield items;
      if (next !== undefined) return next;
    }
    return undefined;
  }

  #toEntryItem({ position, id, entry }: PositionedEntry): readonly FeedItem[] {
    this.#position = position;
    this.#entryId = id;
    if (!entry) return [];
    return [{ type: "entry", id: this.#formatId(), data: JSON.stringify(entry) }];
  }

  /** Returns the run that has written an entry, if it is another one than the last. */
  #getNextRun(entry: SessionEntry | undefined): string | undefined {
    const runId = getRunId(entry);
    return runId === this.#live?.epoch ? undefined : runId;
  }

  #startAgain(): void {
    this.#position = 0;
    this.#entryId = "";
    this.#live = undefined;
    this.#state = undefined;
  }

  #createState(activity: SessionActivity, live?: LivePosition): FeedItem {
    const item = createItem("state", activity);
    this.#state = item.data;
    return { ...item, id: this.#formatId(live) };
  }

  #formatId(live = this.#live): string {
    return formatCursor({ position: this.#position, entryId: this.#entryId, live });
  }

  /** Waits for the next run, for an entry that something else has appended, and for the end. */
  async #wait(nextId: string): Promise<void> {
    const { clock, pollMs, runs } = this.#options;
    const { signal } = this.#stopped;
    if (signal.aborted) return;
    const ended = createDeferred<void>();
    const waiting = new AbortController();
    const stop = () => ended.resolve();
    signal.addEventListener("abort", stop);
    const stopTimer = pollMs === Infinity ? undefined : startTimer(clock, pollMs, stop);
    const first = runs.awaitRun(nextId, waiting.signal).then(stop, () => {});
    await ended.promise;
    waiting.abort();
    await first;
    stopTimer?.();
    signal.removeEventListener("abort", stop);
  }
}
