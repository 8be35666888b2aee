/**
 * The events of one session for one client.
 *
 * Two sequences are merged: the entries of the log, which are the same in every process and after a restart, and the
 * live events of this process. An entry is sent when it is persisted, so that a position that a client has is in the log
 * whatever happens to the process. A client that is too slow for the live events skips some of them, and gets the state
 * instead; it never skips an entry.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import type { Clock } from "../../core/ports/ports.ts";
import { startTimer } from "../../core/ports/start_timer.ts";
import type { Session } from "../../core/sessions/session.ts";
import type { SessionActivity } from "../../core/sessions/session_activity.ts";
import type { EventsOptions, FeedItem } from "./agent_runner.ts";
import { BatchSize, MAX_BATCH_LENGTH } from "./batch_size.ts";
import { type EventCursor, formatCursor, parseCursor } from "./event_cursor.ts";
import { createItem } from "./feed_item.ts";
import type { ActiveLog, LiveEvent, LiveEvents } from "./live_events.ts";
import { hasPosition, readEntries, readStoredActivity, withSession } from "./stored_session.ts";

/** Maximum number of items in a batch. */
const MAX_BATCH = 256;

/** Options for {@linkcode SessionFeed}. */
export interface SessionFeedOptions extends EventsOptions {
  /** The live events of this process. */
  readonly live: LiveEvents;
  /** Opens the session for reading. */
  readonly open: () => Promise<Session>;
  /** Reads the stamp of the session, which is then opened only when it differs. Default: it has none. */
  readonly readStamp?: () => Promise<string | undefined>;
  /** Time after which the log is read again for entries of other processes, in milliseconds; `Infinity` never. */
  readonly pollMs: number;
  /** Timers. */
  readonly clock: Clock;
}

/** The state of the session that a client has. */
interface ClientState {
  /** The status. Default: that of a session without an active run. */
  readonly status?: SessionActivity["status"];
  /** Its JSON. Default: unknown, since the client got it from an earlier feed. */
  readonly json?: string;
}

/** The log in the store when it was read last. */
interface CheckedLog {
  /** The version of the live events; `undefined` if the log must be read again at the same version. */
  readonly version: number | undefined;
  readonly length: number;
  readonly stamp: string | undefined;
}

/** Merges the log of a session with the live events of this process. */
export class SessionFeed {
  readonly #options: SessionFeedOptions;
  #position = 0;
  #entryId = "";
  #seq = 0;
  /** The state of the client; `undefined` if it lacks live events, so that it gets the state. */
  #state: ClientState | undefined;
  readonly #batches = new BatchSize();
  #checked: CheckedLog | undefined;
  /** Ends the wait for events. */
  #stopWaiting = (): void => {};

  constructor(options: SessionFeedOptions) {
    this.#options = options;
  }

  /** Yields the events in batches. Ends with an item `end` when the session has been deleted. */
  async *read(): AsyncGenerator<readonly FeedItem[], void> {
    const { live, signal, ending } = this.#options;
    const onAbort = () => this.#stopWaiting();
    signal.addEventListener("abort", onAbort);
    ending.addEventListener("abort", onAbort);
    try {
      if (!await this.#seek()) yield [createItem("reset", {})];
      while (!signal.aborted) {
        const { version } = live;
        const batch = await this.#next();
        if (batch.length > 0) yield batch;
        // With another version, further events have arrived meanwhile.
        else if (ending.aborted && live.version === version) return;
        else await this.#wait(version);
      }
    } catch (thrown) {
      if (!(thrown instanceof SessionError) || thrown.reason !== "not_found") throw thrown;
      yield [createItem("end", { reason: "session_deleted" })];
    } finally {
      signal.removeEventListener("abort", onAbort);
      ending.removeEventListener("abort", onAbort);
    }
  }

  /** Goes to the position of the client; returns `false` if the log does not have it. */
  async #seek(): Promise<boolean> {
    const { after, live } = this.#options;
    const cursor = after === undefined ? undefined : parseCursor(after);
    if (!cursor || cursor.position === 0) {
      this.#resumeLive(cursor?.live);
      return true;
    }
    const active = live.active;
    const isKnown = active
      ? hasPosition(active.session, cursor)
      : await withSession(this.#options.open, (session) => hasPosition(session, cursor));
    if (!isKnown) return false;
    this.#position = cursor.position;
    this.#entryId = cursor.entryId;
    this.#resumeLive(cursor.live);
    return true;
  }

  #resumeLive(position: EventCursor["live"]): void {
    const { live } = this.#options;
    if (!position || position.epoch !== live.epoch || !live.has(position.seq)) return;
    this.#seq = position.seq;
    // The client has the state until here.
    this.#state = live.active ? { status: "running" } : {};
  }

  /** Returns the next items; none if the client has everything. */
  async #next(): Promise<readonly FeedItem[]> {
    const { live } = this.#options;
    if (!live.has(this.#seq)) this.#state = undefined;
    if (this.#state) {
      const events = live.after(this.#seq, MAX_BATCH);
      const [first] = events;
      if (first && first.mark > this.#position) return await this.#readLog(first.mark);
      if (first) return this.#takeEvents(events);
    }
    return live.active ? await this.#readActive(live.active) : await this.#readStored();
  }

  /** Returns the events that follow no further entry of the log. */
  #takeEvents(events: readonly LiveEvent[]): readonly FeedItem[] {
    const { live } = this.#options;
    const items: FeedItem[] = [];
    let length = 0;
    for (const event of events) {
      if (event.mark > this.#position || length > MAX_BATCH_LENGTH) break;
      this.#seq = event.seq;
      const data = live.toJson(event);
      length += data.length;
      items.push({ type: event.event.type, id: this.#formatId(), data });
    }
    return items;
  }

  async #readActive(active: ActiveLog): Promise<readonly FeedItem[]> {
    if (active.session.outline.length > this.#position) {
      return await this.#readLog(active.session.outline.length);
    }
    if (this.#state?.status === "running") return [];
    // Nothing is awaited since the check, so that the state and the number of events agree.
    return [this.#createState(active.getActivity())];
  }

  /** Reads the log in the store, if it may have changed. */
  async #readStored(): Promise<readonly FeedItem[]> {
    const { live } = this.#options;
    const { version } = live;
    if (this.#state && this.#checked?.version === version) return [];
    const stamp = await this.#readStamp();
    if (this.#checked && stamp !== undefined && stamp === this.#checked.stamp && this.#isIdle) {
      if (live.version === version) this.#checked = { ...this.#checked, version };
      return [];
    }
    return await withSession(this.#options.open, async (session) => {
      if (!hasPosition(session, { position: this.#position, entryId: this.#entryId })) {
        return [this.#startAgain()];
      }
      const { length } = session.outline;
      if (length > this.#position) return await this.#readFrom(session, length);
      const isSame = length === this.#checked?.length && this.#isIdle;
      const activity = isSame ? undefined : await readStoredActivity(session);
      // A run may have started meanwhile.
      if (live.version !== version) return [];
      this.#checked = { version, length, stamp };
      // Another process may have changed the queues or the approvals alone.
      const isKnown = this.#state && JSON.stringify(activity) === this.#state.json;
      if (!activity || isKnown) return [];
      return [this.#createState(activity)];
    });
  }

  /** Whether the client has the state of a session without an active run, which stays until the log changes. */
  get #isIdle(): boolean {
    return this.#state !== undefined && this.#state.status !== "running";
  }

  async #readStamp(): Promise<string | undefined> {
    try {
      return await this.#options.readStamp?.();
    } catch {
      return undefined; // The error of opening the session is reported.
    }
  }

  /** Reads entries up to a position, from the log of the active run or from the store. */
  async #readLog(to: number): Promise<readonly FeedItem[]> {
    const { active } = this.#options.live;
    if (!active) {
      return await withSession(this.#options.open, (session) => this.#readFrom(session, to));
    }
    try {
      await active.flush();
    } catch {
      // The run is aborted, and entries that could not be persisted are no longer in the log.
    }
    try {
      return await this.#readFrom(active.session, to);
    } catch (error) {
      // The session was closed meanwhile, and is read from the store.
      if (this.#options.live.active !== active) return [];
      throw error;
    }
  }

  async #readFrom(session: Session, to: number): Promise<readonly FeedItem[]> {
    const end = Math.min(to, session.outline.length, this.#position + this.#batches.count);
    if (end <= this.#position) {
      // The entries could not be written, so that events must not wait for them.
      this.#options.live.limitMarks(this.#position);
      return [];
    }
    const entries = await readEntries(session, this.#position, end);
    const items: FeedItem[] = [];
    let length = 0;
    for (const { position, id, entry } of entries) {
      if (length > MAX_BATCH_LENGTH) break;
      this.#position = position;
      this.#entryId = id;
      if (!entry) continue;
      const data = JSON.stringify(entry);
      length += data.length;
      items.push({ type: "entry", id: this.#formatId(), data });
    }
    this.#batches.adapt(items.length, length);
    const isAtEnd = this.#position >= Math.min(to, session.outline.length);
    // Entries that can no longer be read are skipped.
    return items.length > 0 || isAtEnd ? items : await this.#readFrom(session, to);
  }

  /** Begins with the first entry of another log, such as that of a session that was deleted and created again. */
  #startAgain(): FeedItem {
    this.#position = 0;
    this.#entryId = "";
    this.#state = undefined;
    return createItem("reset", {});
  }

  #createState(activity: SessionActivity): FeedItem {
    this.#seq = this.#options.live.lastSeq;
    const item = createItem("state", activity);
    this.#state = { status: activity.status, json: item.data };
    return { ...item, id: this.#formatId() };
  }

  #formatId(): string {
    const { epoch } = this.#options.live;
    // Without a live position, a client that connects again gets the state, and not the live events before the entry.
    const live = this.#state && { epoch, seq: this.#seq };
    return formatCursor({ position: this.#position, entryId: this.#entryId, live });
  }

  /** Waits for live events; without an active run also for the time of the next look at the log. */
  async #wait(version: number): Promise<void> {
    const { live, signal, ending, pollMs, clock } = this.#options;
    if (signal.aborted || ending.aborted) return;
    const { promise, stop } = live.waitForChange(version);
    this.#stopWaiting = stop;
    const isPolled = !live.active && pollMs !== Infinity;
    const stopTimer = isPolled && startTimer(clock, pollMs, () => {
      if (this.#checked) this.#checked = { ...this.#checked, version: undefined };
      stop();
    });
    await promise;
    if (stopTimer) stopTimer();
  }
}
