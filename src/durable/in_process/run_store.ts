/**
 * The sessions in which the in-process engine keeps its runs.
 *
 * @module
 */

import type { ReceivedMessage, RunMessage } from "../../core/durable/durable_steps.ts";
import { SessionError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonValue } from "../../core/json/json.ts";
import { realSleep } from "../../core/ports/ports.ts";
import type { Session, SessionStore } from "../../core/sessions/session.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { type DurableOutcome, parseOutcome } from "../engine/run_outcome.ts";
import { hasReason } from "./has_reason.ts";

/** Names of the entries, which are of the type `custom`. */
const ENTRY = {
  start: "durable_start",
  step: "durable_step",
  owned: "durable_owned",
  inbox: "durable_inbox",
  message: "durable_message",
  closed: "durable_closed",
  end: "durable_end",
} as const;

/** Time for which a session is requested that another sender has open, in milliseconds. */
const LOCK_WAIT_MS = 30_000;
const LOCK_PAUSE_MS = 10;
/** Longest pause of a start that waits for another one; each is twice as long as the one before, in milliseconds. */
const MAX_START_PAUSE_MS = 500;

/** The start of a run. */
export interface RunStart {
  /** Name of the workflow. */
  readonly workflow: string;
  /** The input. */
  readonly input: JsonValue;
  /** Time of the start, in milliseconds since the epoch. */
  readonly startedAt: number;
}

/** A recorded step. */
export interface StoredStep {
  /** Position of the step, from 0. */
  readonly position: number;
  /** Name of the step. */
  readonly name: string;
  /** The recorded value. */
  readonly value: JsonValue;
}

/** A run that this process executes: its session is open for writing. */
export interface OpenRun {
  readonly session: Session;
  readonly start: RunStart;
  /** Whether another process may have executed it before. */
  readonly isContinued: boolean;
  /** The recorded steps, by their positions. */
  readonly steps: ReadonlyMap<number, StoredStep>;
}

/**
 * The runs in a session store. Each run has a session with its input and steps, one with the messages to it, which any
 * process can append to, and after its end only one with the outcome. A wait for a session that another process has open
 * ends with the signal of its caller.
 */
export class RunStore {
  readonly #store: SessionStore;
  readonly #prefix: string;

  constructor(store: SessionStore, prefix: string) {
    this.#store = store;
    this.#prefix = prefix;
  }

  /**
   * Creates a run and opens it; `undefined` if one with the id exists.
   *
   * @throws {SessionError} With the reason `locked` if another process has its session open, without a start.
   */
  async create(id: string, start: RunStart, signal?: AbortSignal): Promise<OpenRun | undefined> {
    const runId = this.#getId(id, "run");
    const metadata = { durableRun: id, durableState: "active" };
    let pauseMs = LOCK_PAUSE_MS;
    for (let waitedMs = 0;; waitedMs += pauseMs) {
      if (await this.readOutcome(id)) return undefined;
      const session = await this.#tryCreate(runId, metadata) ?? await this.#tryOpen(runId);
      if (session) return await closeOnError(session, () => this.#begin(id, { session, start }));
      // Another caller creates the run, which is found as soon as its start is recorded.
      if (await this.isActive(id)) return undefined;
      if (waitedMs > LOCK_WAIT_MS) throw createLockedError(`The run "${id}" was not started`);
      pauseMs = Math.min(2 * pauseMs, MAX_START_PAUSE_MS);
      await waitForLock(pauseMs, signal);
    }
  }

  /** Records the start of a run; `undefined`, with its session closed, if it has begun already. */
  async #begin(
    id: string,
    { session, start }: Pick<OpenRun, "session" | "start">,
  ): Promise<OpenRun | undefined> {
    const entries = await session.path({ types: ["custom"] });
    // A process that ended at this point has left a session without a start.
    if (readEntries(entries, ENTRY.start).length > 0) {
      await session.close();
      return undefined;
    }
    // The run may have ended, and its session been deleted, since its outcome was looked up.
    if (await this.readOutcome(id)) {
      await session.close();
      await this.#delete(this.#getId(id, "run"));
      return undefined;
    }
    append(session, ENTRY.start, start);
    await session.flush();
    return { session, start, isContinued: false, steps: new Map() };
  }

  /** Opens a run to execute it; `undefined` if it has ended, or another process executes it. */
  async open(id: string): Promise<OpenRun | undefined> {
    const session = await this.#tryOpen(this.#getId(id, "run"));
    if (!session) return undefined;
    return await closeOnError(session, async () => {
      const entries = await session.path({ types: ["custom"] });
      const [start] = readEntries(entries, ENTRY.start);
      if (!isJsonObject(start)) {
        await session.close();
        return undefined;
      }
      const steps = readEntries(entries, ENTRY.step) as StoredStep[];
      return {
        session,
        start: start as unknown as RunStart,
        isContinued: true,
        steps: new Map(steps.map((step) => [step.position, step])),
      };
    });
  }

  /** Returns the ids of the runs that have not ended. */
  async listActive(): Promise<string[]> {
    const sessions = await this.#store.list({ metadata: { durableState: "active" } });
    return sessions.flatMap(({ id, metadata }) => {
      const run = metadata?.["durableRun"];
      return typeof run === "string" && id === this.#getId(run, "run") ? [run] : [];
    });
  }

  /** Whether a run has not ended. */
  async isActive(id: string): Promise<boolean> {
    return (await this.#readAll(this.#getId(id, "run"))).length > 0;
  }

  /** Records a step; resolves when it is persisted. */
  async appendStep({ session }: OpenRun, step: StoredStep): Promise<void> {
    append(session, ENTRY.step, step);
    await session.flush();
  }

  /** Resolves if this process still has the run. */
  async assertOwned({ session }: OpenRun): Promise<void> {
    // The lock of a session is checked with each entry.
    append(session, ENTRY.owned, {});
    await session.flush();
  }

  /** Records the outcome of a run and deletes its steps. */
  async finish(id: string, run: OpenRun, outcome: DurableOutcome): Promise<void> {
    await this.#recordOutcome(id, outcome);
    await run.session.close();
    await this.#delete(this.#getId(id, "inbox"));
    await this.#delete(this.#getId(id, "run"));
  }

  async #recordOutcome(id: string, outcome: DurableOutcome): Promise<void> {
    const endId = this.#getId(id, "end");
    const metadata = { durableRun: id, durableState: "ended" };
    const session = await this.#tryCreate(endId, metadata) ?? await this.#store.open(endId);
    await closeOnError(session, async () => {
      const entries = await session.path({ types: ["custom"] });
      // A process that ended before the deletions has recorded the outcome, or has left a session without it.
      if (readEntries(entries, ENTRY.end).length === 0) append(session, ENTRY.end, outcome);
      await session.close();
    });
  }

  /** Returns the outcome of a run; `undefined` if it has not ended. */
  async readOutcome(id: string): Promise<DurableOutcome | undefined> {
    const [outcome] = readEntries(await this.#readAll(this.#getId(id, "end")), ENTRY.end);
    return outcome === undefined ? undefined : parseOutcome(outcome);
  }

  /** Records a message to a run; returns `false` if the run accepts no further one. */
  async appendMessage(id: string, message: RunMessage, signal?: AbortSignal): Promise<boolean> {
    const session = await this.#openInbox(id, signal);
    try {
      const entries = await session.path({ types: ["custom"] });
      if (entries.length === 0) {
        // A message that is stored as a later entry does not create an inbox again that was deleted.
        append(session, ENTRY.inbox, {});
        await session.flush();
      }
      // The inbox of a run that has ended is deleted.
      const isClosed = readEntries(entries, ENTRY.closed).length > 0 || await this.readOutcome(id);
      if (isClosed) return false;
      append(session, ENTRY.message, message);
      await session.flush();
      return true;
    } catch (error) {
      // The run may have ended while this process was suspended, and its inbox been deleted.
      if (hasReason(error, "lock_lost") && await this.readOutcome(id)) return false;
      throw error;
    } finally {
      await session.close();
      // A run that ended meanwhile could not delete what was open.
      if (await this.readOutcome(id)) await this.#delete(this.#getId(id, "inbox"));
    }
  }

  /** Lets no message follow the one with the number `last`; returns `false` if there are some already. */
  async closeInbox(id: string, last: number, signal?: AbortSignal): Promise<boolean> {
    const session = await this.#openInbox(id, signal);
    try {
      const entries = await session.path({ types: ["custom"] });
      if (readEntries(entries, ENTRY.message).length > last) return false;
      if (readEntries(entries, ENTRY.closed).length === 0) append(session, ENTRY.closed, {});
      return true;
    } finally {
      await session.close();
    }
  }

  /** Returns the messages to a run. */
  async readMessages(id: string): Promise<ReceivedMessage[]> {
    const messages = readEntries(await this.#readAll(this.#getId(id, "inbox")), ENTRY.message);
    return messages.map((message, index) => ({
      number: index + 1,
      message: message as RunMessage,
    }));
  }

  /** Opens the messages to a run. */
  async #openInbox(id: string, signal: AbortSignal | undefined): Promise<Session> {
    const inbox = this.#getId(id, "inbox");
    const metadata = { durableRun: id, durableState: "inbox" };
    for (let waitedMs = 0;; waitedMs += LOCK_PAUSE_MS) {
      const session = await this.#tryOpen(inbox) ?? await this.#tryCreate(inbox, metadata);
      if (session) return session;
      if (waitedMs > LOCK_WAIT_MS) {
        throw createLockedError(`The messages of the run "${id}" cannot be opened`);
      }
      await waitForLock(LOCK_PAUSE_MS, signal);
    }
  }

  async #tryCreate(
    id: string,
    metadata: Readonly<Record<string, string>>,
  ): Promise<Session | undefined> {
    try {
      return await this.#store.create({ id, metadata });
    } catch (error) {
      if (hasReason(error, "already_exists") || hasReason(error, "locked")) return undefined;
      throw error;
    }
  }

  async #tryOpen(id: string): Promise<Session | undefined> {
    try {
      return await this.#store.open(id);
    } catch (error) {
      if (hasReason(error, "not_found") || hasReason(error, "locked")) return undefined;
      throw error;
    }
  }

  async #readAll(id: string): Promise<readonly SessionEntry[]> {
    try {
      const session = await this.#store.open(id, { access: "read" });
      try {
        return await session.path({ types: ["custom"] });
      } finally {
        await session.close();
      }
    } catch (error) {
      if (hasReason(error, "not_found")) return [];
      throw error;
    }
  }

  async #delete(id: string): Promise<void> {
    try {
      await this.#store.delete(id);
    } catch (error) {
      // A sender that has the inbox open deletes nothing: `listActive()` does not list it.
      if (!hasReason(error, "not_found") && !hasReason(error, "locked")) throw error;
    }
  }

  #getId(id: string, part: "run" | "inbox" | "end"): string {
    return `${this.#prefix}${id}-${part}`;
  }
}

/** Waits before a session is requested again. @throws If the signal is aborted, with its reason. */
async function waitForLock(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  await realSleep(milliseconds, signal);
  signal?.throwIfAborted();
}

function createLockedError(problem: string): SessionError {
  const message = `${problem}: another process has the session open. Try again later`;
  return new SessionError(message, { reason: "locked" });
}

/** Uses a session that stays open; closes it if that fails, since it could not be opened again otherwise. */
export async function closeOnError<Result>(
  session: Session,
  use: () => Promise<Result>,
): Promise<Result> {
  try {
    return await use();
  } catch (error) {
    await session.close().catch(() => {});
    throw error;
  }
}

function append(session: Session, name: string, data: unknown): void {
  session.append({ type: "custom", name, data });
}

function readEntries(entries: readonly SessionEntry[], name: string): unknown[] {
  return entries.flatMap((entry) =>
    entry.type === "custom" && entry.name === name ? [entry.data] : []
  );
}
