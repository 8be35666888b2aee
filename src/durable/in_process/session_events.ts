/**
 * The events of runs in a session store.
 *
 * @module
 */

import { NetworkError } from "../../core/errors/errors.ts";
import { realSleep } from "../../core/ports/ports.ts";
import type { Session, SessionStore } from "../../core/sessions/session.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import type {
  EventContent,
  EventPosition,
  EventStorage,
  NewEvent,
  RunAttempt,
  StoredEvent,
} from "../events/event_storage.ts";
import { hasReason } from "./has_reason.ts";

const ENTRY = "durable_event";

/** Maximum number of records that are read one by one. */
const MAX_SINGLE_READS = 64;

/** Time for which a session is requested that another process has open, in milliseconds. */
const LOCK_WAIT_MS = 30_000;
const LOCK_PAUSE_MS = 20;

/** The end of a session, as this process knows it. */
interface SessionTail {
  /** Number of the records that are stored. */
  readonly length: number;
  /** Ids of the records after them that this process has appended. */
  readonly ids: Set<string>;
}

/** Keeps the events of each run in a session, which is open while this process executes the run. */
export class SessionEvents implements EventStorage {
  readonly #store: SessionStore;
  readonly #prefix: string;
  readonly #open = new Map<string, Session>();
  /** The runs that another process has taken over, which publishes their events. */
  readonly #lost = new Set<string>();
  /** The runs that this process no longer executes, whose last events are stored unless another process has them. */
  readonly #left = new Set<string>();
  /** The numbers of stored records, which are not stored again when those of another run could not be. */
  readonly #numbers = new WeakMap<NewEvent, number>();
  /** The places of records that were appended, of which it is not known whether they are stored. */
  readonly #attempted = new WeakMap<NewEvent, { readonly number: number; readonly id: string }>();
  /** The ends of the sessions that this process has appended to, by which it recognizes records of another one. */
  readonly #tails = new Map<string, SessionTail>();

  constructor(store: SessionStore, prefix: string) {
    this.#store = store;
    this.#prefix = prefix;
  }

  /** Notes that this process begins a run, which has no events: those that are found later are of another process. */
  start(runId: string): void {
    this.#tails.set(runId, { length: 0, ids: new Set() });
  }

  /** Opens the events of a run that this process continues, so that processes before it cannot append any more. */
  async begin(runId: string, { detached }: RunAttempt): Promise<void> {
    try {
      await this.#openRun(runId, detached);
    } catch (error) {
      throw await this.#findCause(error);
    }
  }

  async append(events: readonly NewEvent[]): Promise<readonly number[]> {
    const runIds = new Set(events.map(({ runId }) => runId));
    const ended = await Promise.allSettled(Array.from(runIds, async (runId) => {
      const own = events.filter((event) => event.runId === runId && !this.#numbers.has(event));
      if (own.length > 0) await this.#append(runId, own);
    }));
    for (const result of ended) {
      if (result.status === "rejected") throw await this.#findCause(result.reason);
    }
    return events.map((event) => this.#numbers.get(event) ?? 0);
  }

  async read(
    positions: readonly EventPosition[],
    limit: number,
  ): Promise<ReadonlyMap<string, readonly StoredEvent[]>> {
    const found = new Map<string, readonly StoredEvent[]>();
    for (const { runId, after } of positions) {
      try {
        found.set(runId, await this.#read(runId, { after, limit }));
      } catch (error) {
        throw await this.#findCause(error);
      }
    }
    return found;
  }

  async findCheckpoint(runId: string): Promise<number> {
    const records = await this.#read(runId, { after: 0, limit: Infinity });
    const found = records.findLast(({ type }) => type === "checkpoint");
    return found ? found.number - 1 : 0;
  }

  /** Waits no longer for another process that has the events of a run open: it executes the run. */
  leave(runId: string): void {
    this.#left.add(runId);
  }

  /** Closes the session of a run, so that another process can append to it. */
  async release(runId: string): Promise<void> {
    this.#left.delete(runId);
    this.#lost.delete(runId);
    this.#tails.delete(runId);
    await this.#closeSession(runId);
  }

  async #closeSession(runId: string): Promise<void> {
    const session = this.#open.get(runId);
    this.#open.delete(runId);
    await session?.close().catch(() => {});
  }

  /** Closes all sessions. */
  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((runId) => this.release(runId)));
  }

  /** Deletes the events of runs that are not active and have published none since a time. */
  async remove(
    { before, active, signal }: {
      readonly before: number;
      readonly active: ReadonlySet<string>;
      readonly signal?: AbortSignal;
    },
  ): Promise<void> {
    const sessions = await this.#store.list({ metadata: { durableState: "events" } });
    for (const { id, updated, metadata } of sessions) {
      if (signal?.aborted) return;
      const runId = metadata?.["durableRun"];
      if (typeof runId !== "string" || id !== this.#getId(runId)) continue;
      if (updated < before && !active.has(runId)) await this.#store.delete(id).catch(() => {});
    }
  }

  async #append(runId: string, events: readonly NewEvent[]): Promise<void> {
    if (this.#lost.has(runId)) return;
    const session = await this.#openRun(runId);
    if (!session) return;
    try {
      const numbers = events.map((event) => this.#appendOnce(session, event));
      await session.flush();
      this.#tails.set(runId, createTail(session));
      events.forEach((event, index) => this.#numbers.set(event, numbers[index] ?? 0));
    } catch (error) {
      // The session is opened again, with the entries that are stored.
      await this.#closeSession(runId);
      // A wait for the other process would hold up the events of all runs of this one.
      if (hasReason(error, "lock_lost")) return void this.#lost.add(runId);
      throw error;
    }
    if (events.some(({ type }) => type === "end")) await this.release(runId);
  }

  /** Appends a record, unless an attempt has stored it that failed after that; returns its number. */
  #appendOnce(session: Session, event: NewEvent): number {
    const attempted = this.#attempted.get(event);
    if (attempted && session.outline[attempted.number - 1]?.id === attempted.id) {
      return attempted.number;
    }
    const { runId, attempt: _, ...content } = event;
    const { id } = session.append({ type: "custom", name: ENTRY, data: content });
    const number = session.outline.length;
    this.#attempted.set(event, { number, id });
    this.#tails.get(runId)?.ids.add(id);
    return number;
  }

  async #openRun(runId: string, detached?: AbortSignal): Promise<Session | undefined> {
    const known = this.#open.get(runId);
    if (known) return known;
    const session = await this.#openSession(runId, detached);
    if (!session) return undefined;
    // The events of the run were released meanwhile.
    if (detached?.aborted) {
      await session.close();
      return undefined;
    }
    const tail = this.#tails.get(runId);
    // Another process has had the run since an attempt failed: its records follow, or it has ended the run.
    if (tail && !isOwnTail(session, tail)) {
      this.#lost.add(runId);
      await session.close();
      return undefined;
    }
    if (!tail) this.#tails.set(runId, createTail(session));
    this.#open.set(runId, session);
    return session;
  }

  /** Opens the events of a run; `undefined` if this process has left it, and another one has them open. */
  async #openSession(runId: string, detached?: AbortSignal): Promise<Session | undefined> {
    const id = this.#getId(runId);
    for (let waitedMs = 0;; waitedMs += LOCK_PAUSE_MS) {
      try {
        return await this.#store.open(id);
      } catch (error) {
        if (hasReason(error, "not_found")) {
          const metadata = { durableRun: runId, durableState: "events" };
          return await this.#store.create({ id, metadata });
        }
        if (!hasReason(error, "locked")) throw error;
        if (this.#left.has(runId) || detached?.aborted) return undefined;
        if (waitedMs > LOCK_WAIT_MS) throw error;
      }
      await realSleep(LOCK_PAUSE_MS);
    }
  }

  async #read(
    runId: string,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<readonly StoredEvent[]> {
    try {
      const session = await this.#store.open(this.#getId(runId), { access: "read" });
      try {
        const ids = session.outline.slice(after, after + limit).map(({ id }) => id);
        const entries = await readEntries(session, ids);
        return entries.flatMap((entry, index) =>
          entry?.type === "custom" && entry.name === ENTRY
            ? [{ ...entry.data as EventContent, number: after + index + 1 }]
            : []
        );
      } finally {
        await session.close();
      }
    } catch (error) {
      if (hasReason(error, "not_found")) return [];
      throw error;
    }
  }

  /** Returns the error of a store that cannot be reached if nothing else can be read either, or else the one of the call. */
  async #findCause(error: unknown): Promise<unknown> {
    try {
      await this.#store.list({ metadata: { durableState: "events" }, limit: 1 });
      return error;
    } catch (cause) {
      return new NetworkError("The session store cannot be reached", { cause });
    }
  }

  #getId(runId: string): string {
    return `${this.#prefix}${runId}-events`;
  }
}

function createTail({ outline }: Session): SessionTail {
  return { length: outline.length, ids: new Set() };
}

/** Whether a session has the records before its end, and then only those of this process. */
function isOwnTail({ outline }: Session, { length, ids }: SessionTail): boolean {
  return outline.length >= length && outline.slice(length).every(({ id }) => ids.has(id));
}

async function readEntries(
  session: Session,
  ids: readonly string[],
): Promise<readonly (SessionEntry | undefined)[]> {
  if (ids.length <= MAX_SINGLE_READS) {
    return await Promise.all(ids.map((id) => session.entry(id)));
  }
  const byId = new Map((await session.path()).map((entry) => [entry.id, entry]));
  return ids.map((id) => byId.get(id));
}
