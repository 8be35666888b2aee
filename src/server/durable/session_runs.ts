/**
 * The runs of one session.
 *
 * The id of a run is derived from the session and its last entry at the start: of several processes that start one at the
 * same moment, the engine accepts the first. The log has the ids of the runs that have written to it.
 *
 * @module
 */

import type {
  DurableEngine,
  DurableRun,
  PublishedEvent,
} from "../../core/durable/durable_engine.ts";
import type { Session } from "../../core/sessions/session.ts";
import type { SessionActivity } from "../../core/sessions/session_activity.ts";
import type { EntryOutline } from "../../core/sessions/session_entry.ts";
import type { RunEnd } from "../runner/agent_runner.ts";
import { readStoredActivity, withSession } from "../runner/stored_session.ts";
import { getRunId } from "./get_run_id.ts";
import { type NumberedRecord, RunActivity, toRecords } from "./run_record.ts";

/** Number of entries among which the last run is looked for first. */
const LAST_ENTRIES = 8;

/** A run that has not finished. */
export interface ActiveRun {
  /** Its id. */
  readonly runId: string;
  /** The run. */
  readonly run: DurableRun<RunEnd>;
  /** Number of the latest checkpoint among its records, and the length of the log there. */
  readonly checkpoint: number;
  readonly position: number;
  /** Number of its last record. */
  readonly last: number;
  /** Its activity. */
  readonly activity: SessionActivity;
}

/** The state of a session. */
export interface SessionLook {
  /** The entries of the log. */
  readonly outline: readonly EntryOutline[];
  /** The active run. */
  readonly active: ActiveRun | undefined;
  /** Id of the next run. */
  readonly nextId: string;
  /** The activity. */
  readonly activity: SessionActivity;
}

/** Options for {@linkcode SessionRuns}. */
export interface SessionRunsOptions {
  /** The engine. */
  readonly engine: DurableEngine;
  /** Id of the session. */
  readonly sessionId: string;
  /** Opens the session for reading; rejects if it is not the caller's. */
  readonly open: () => Promise<Session>;
}

/** Finds and reads the runs of a session. */
export class SessionRuns {
  readonly #options: SessionRunsOptions;
  /** The activity in the log when it had a number of entries. */
  #stored: { readonly length: number; readonly activity: SessionActivity } | undefined;

  constructor(options: SessionRunsOptions) {
    this.#options = options;
  }

  /** Returns the state of the session. */
  async look(): Promise<SessionLook> {
    return await this.withSession(async (session) => {
      const { outline } = session;
      const { active, nextId } = await this.find(session);
      const activity = active?.activity ?? await this.#readStored(session);
      return { outline, active, nextId, activity };
    });
  }

  /** Finds the active run, or the id that the next one gets. */
  async find(
    session: Session,
  ): Promise<{ readonly active: ActiveRun | undefined; readonly nextId: string }> {
    const written = await findLastRun(session);
    const active = written && await this.#readActive(written);
    if (active) return { active, nextId: await createRunId(session, 1) };
    const used = await this.#countUsed(session);
    const lastId = used > 0 ? await createRunId(session, used) : undefined;
    // The last run has not written to the log yet, or has failed before it did.
    const unwritten = lastId === undefined ? undefined : await this.#readActive(lastId);
    if (unwritten) return { active: unwritten, nextId: unwritten.runId };
    return { active: undefined, nextId: await createRunId(session, used + 1) };
  }

  /** Returns how many ids of runs after the last entry are used. They are used in order, so that few must be looked up. */
  async #countUsed(session: Session): Promise<number> {
    const isUsed = async (attempt: number) =>
      await this.#getRun(await createRunId(session, attempt)).status() !== undefined;
    let used = 0;
    let free = 1;
    for (; await isUsed(free); free *= 2) used = free;
    while (free - used > 1) {
      const middle = Math.floor((used + free) / 2);
      if (await isUsed(middle)) used = middle;
      else free = middle;
    }
    return used;
  }

  /** Whether a run belongs to the session and its events are still kept. */
  async isOwn(runId: string): Promise<boolean> {
    const run = this.#getRun(runId);
    if (await run.status() === undefined) return false;
    const [first] = toRecords(await readFirst(run));
    if (first?.record.type !== "begin") return false;
    const { sessionId, position, entryId } = first.record;
    if (sessionId !== this.#options.sessionId) return false;
    // A session that was deleted had the same id, and may have belonged to another tenant.
    return await this.withSession(({ outline }) => (outline[position - 1]?.id ?? "") === entryId);
  }

  /** Returns the records of a run since its latest checkpoint. */
  async readLatest(runId: string): Promise<readonly NumberedRecord[]> {
    return toRecords(await this.#getRun(runId).readEvents({ after: "checkpoint" }));
  }

  /** Returns the events of a run after a number, until it ends. */
  follow(
    runId: string,
    options: { readonly after: number; readonly signal: AbortSignal },
  ): AsyncIterable<readonly PublishedEvent[]> {
    return this.#getRun(runId).events(options);
  }

  /** Resolves when a run has published its first event, or the signal aborts. */
  async awaitRun(runId: string, signal: AbortSignal): Promise<void> {
    for await (const _batch of this.#getRun(runId).events({ signal })) return;
  }

  /** Opens the session for a function, and closes it then. */
  withSession<Result>(use: (session: Session) => Result | Promise<Result>): Promise<Result> {
    return withSession(this.#options.open, use);
  }

  #getRun(runId: string): DurableRun<RunEnd> {
    return this.#options.engine.getRun<RunEnd>(runId);
  }

  async #readActive(runId: string): Promise<ActiveRun | undefined> {
    const run = this.#getRun(runId);
    if (await run.status() !== "running") return undefined;
    const records = await this.readLatest(runId);
    // The engine records its outcome after that.
    if (records.some(({ record }) => record.type === "finished")) return undefined;
    const tracked = new RunActivity(runId);
    for (const record of records) tracked.apply(record);
    const [first] = records;
    const hasPosition = first?.record.type === "begin" || first?.record.type === "saved";
    return {
      runId,
      run,
      checkpoint: first?.number ?? 0,
      position: hasPosition ? first.record.position : Infinity,
      last: records.at(-1)?.number ?? 0,
      activity: tracked.get(),
    };
  }

  async #readStored(session: Session): Promise<SessionActivity> {
    const { length } = session.outline;
    if (this.#stored?.length !== length) {
      this.#stored = { length, activity: await readStoredActivity(session) };
    }
    return this.#stored.activity;
  }
}

/** Returns the id of the run that has written to the log last. */
async function findLastRun(session: Session): Promise<string | undefined> {
  for (const last of [LAST_ENTRIES, undefined]) {
    const entries = await session.path({ types: ["custom"], last });
    const found = entries.findLast((entry) => getRunId(entry) !== undefined);
    if (found) return getRunId(found);
    if (entries.length < LAST_ENTRIES) return undefined;
  }
  return undefined;
}

async function createRunId({ id, leafId }: Session, attempt: number): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify([id, leafId, attempt]));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0"));
  return hex.join("").slice(0, 40);
}

async function readFirst(run: DurableRun): Promise<readonly PublishedEvent[]> {
  for await (const batch of run.events({ signal: AbortSignal.timeout(FIRST_MS) })) return batch;
  return [];
}

/** Time in which a run has published its first event, in milliseconds. */
const FIRST_MS = 1_000;
