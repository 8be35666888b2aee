/**
 * Runs agents in this process.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { AgentError, AlreadyRunningError, SessionError } from "../../core/errors/errors.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { Session, SessionStore } from "../../core/sessions/session.ts";
import type { SessionHeader } from "../../core/sessions/session_entry.ts";
import {
  type ResumedAgent,
  type ResumedSession,
  resumeSession,
} from "../../memory/recording/resume.ts";
import { scopeSessions } from "../../memory/storage/scoped_store.ts";
import { stampReaders } from "../../memory/storage/session_stamps.ts";
import { createRandomId } from "../../memory/store/session_id.ts";
import { ApplicationError, callApplication, createShutdownFailure } from "../http/problem.ts";
import type {
  AgentRunner,
  CloseOptions,
  CloseReport,
  EventsOptions,
  FeedItem,
  QueuedInput,
  RunInput,
  RunStart,
  SessionDetail,
  SessionKey,
  StartOptions,
} from "./agent_runner.ts";
import { checkCursor, formatCursor } from "./event_cursor.ts";
import { KeyedQueue } from "./keyed_queue.ts";
import { LiveEvents } from "./live_events.ts";
import { LocalRun } from "./local_run.ts";
import { findRepeated } from "./repeated_prompt.ts";
import {
  type CreateAgent,
  disposeServed,
  preparePrompt,
  toServedAgentParts,
} from "./served_agent.ts";
import { SessionFeed } from "./session_feed.ts";
import { getEnd, readStoredActivity, readSummary, withSession } from "./stored_session.ts";

/** Options for {@linkcode LocalRunner}. */
export interface LocalRunnerOptions {
  /** The sessions. */
  readonly store: SessionStore;
  /** Creates the agent for a run. */
  readonly createAgent: CreateAgent;
  /** Time after which a client gets the entries of other processes, in milliseconds; `Infinity` never. */
  readonly pollMs: number;
  /** Time for which events are kept after a run for clients that reconnect, in milliseconds. */
  readonly keepEventsMs: number;
  /** Time and timers. */
  readonly clock: Clock;
}

/** Number of sessions whose events are kept after their runs. */
const MAX_KEPT = 1_000;

/** Time between two looks for old events, in milliseconds: each one sorts all sessions. */
const REMOVAL_INTERVAL_MS = 1_000;

/** A run that is not started. */
interface CreatedRun {
  readonly run: LocalRun;
  /** The input, with the prompt of the application. */
  readonly input: RunInput;
  /** The position before its events. */
  readonly eventId: string;
}

/** Runs agents in this process, one run of a session at a time. */
export class LocalRunner implements AgentRunner {
  readonly #options: LocalRunnerOptions;
  readonly #runs = new Map<string, LocalRun>();
  /** The live events, by {@linkcode getLiveKey}. */
  readonly #live = new Map<string, LiveEvents>();
  readonly #queue = new KeyedQueue();
  readonly #epoch = createRandomId();
  #epochs = 0;
  #isClosing = false;
  #lastRemoval = -Infinity;

  constructor(options: LocalRunnerOptions) {
    this.#options = options;
  }

  start(key: SessionKey, input: RunInput, options: StartOptions): Promise<RunStart> {
    return this.#queue.run(key.id, () => this.#start(key, input, options));
  }

  async send(key: SessionKey, input: QueuedInput): Promise<string | undefined> {
    const run = this.#findRun(key);
    return run?.agent.state.isRunning ? await run.send(input) : undefined;
  }

  // deno-lint-ignore require-await -- what is thrown is a rejection
  async abort(key: SessionKey, reason: string): Promise<boolean> {
    const run = this.#findRun(key);
    if (!run?.agent.state.isRunning) return false;
    run.abort(reason, { isHandedOver: false });
    return true;
  }

  async describe(key: SessionKey): Promise<SessionDetail> {
    const run = this.#findRun(key);
    if (run?.agent.state.isRunning) {
      try {
        return { ...run.getActivity(), ...await this.#describeLog(run.session) };
      } catch (error) {
        // The session of the run was closed meanwhile, and is read from the store.
        if (run.agent.state.isRunning) throw error;
      }
    }
    await run?.ended.catch(() => {});
    return await withSession(() => this.#openStored(key), async (session) => ({
      ...await readStoredActivity(session),
      ...await this.#describeLog(session),
    }));
  }

  isRunning(sessionId: string): boolean {
    return this.#runs.has(sessionId);
  }

  async events(
    key: SessionKey,
    options: EventsOptions,
  ): Promise<AsyncIterable<readonly FeedItem[]>> {
    checkCursor(options.after);
    // An error before the first event is that of the request.
    const session = await this.#openStored(key);
    await session.close();
    return this.#readEvents(key, session.header, options);
  }

  delete(key: SessionKey): Promise<void> {
    return this.#queue.run(key.id, async () => {
      const active = this.#findRun(key);
      if (active?.agent.state.isRunning) throw new AlreadyRunningError();
      await active?.ended.catch(() => {});
      await scopeSessions(this.#options.store, key).delete(key.id);
      this.#removeEvents(key.id);
    });
  }

  async close({ signal }: CloseOptions): Promise<CloseReport> {
    this.#isClosing = true;
    const stopped = new Set<LocalRun>();
    const stop = () => {
      for (const run of this.#runs.values()) {
        stopped.add(run);
        run.abort("The server is shutting down", { isHandedOver: true });
      }
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
    const active = new Set(this.#runs.values());
    await Promise.allSettled([...active].map(({ ended }) => ended));
    signal.removeEventListener("abort", stop);
    return { ended: active.size - stopped.size, handedOver: stopped.size };
  }

  async *#readEvents(
    key: SessionKey,
    header: SessionHeader,
    options: EventsOptions,
  ): AsyncGenerator<readonly FeedItem[], void> {
    const { pollMs, clock } = this.#options;
    const live = this.#getLive(header);
    live.watchers++;
    try {
      const open = () => this.#openStored(key);
      const readStamp = async () => await stampReaders.get(this.#options.store)?.(key.id);
      yield* new SessionFeed({ ...options, pollMs, clock, live, open, readStamp }).read();
    } finally {
      live.watchers--;
      live.lastUsed = clock.now();
    }
  }

  async #start(key: SessionKey, input: RunInput, options: StartOptions): Promise<RunStart> {
    this.#checkOpen();
    const active = this.#findRun(key);
    if (active?.agent.state.isRunning) {
      const repeated = await findRepeated(active.session, active.agent.state.messages, input);
      if (repeated) return repeated;
      throw new AlreadyRunningError();
    }
    // An earlier run has ended, and may still be closing its session.
    await active?.ended.catch(() => {});
    const resumed = await resumeSession(scopeSessions(this.#options.store, key), key.id);
    const repeated = await findRepeated(resumed.session, resumed.messages, input);
    if (repeated) {
      await resumed.session.close();
      return repeated;
    }
    return await this.#startRun(await this.#createRun(resumed, input), options);
  }

  /** Creates the agent of a run, and restores its session into it. */
  async #createRun(resumed: ResumedSession, input: RunInput): Promise<CreatedRun> {
    const { session, model } = resumed;
    const { createAgent, clock } = this.#options;
    const live = this.#getLive(session.header);
    const create = () => createAgent({ ...session.header, ...(model && { model }) });
    const served = await closeOnError(
      session,
      async () => toServedAgentParts(await callApplication(create)),
    );
    const dispose = () => disposeServed(served, clock);
    const close = () => session.close().finally(dispose);
    const { agent } = served;
    return await closeOnError({ close }, async () => {
      const prepared: RunInput = input.type === "prompt"
        ? { ...input, message: await preparePrompt(input.message, served.preparePrompt) }
        : input;
      const recording = await restoreInto(agent, resumed, clock);
      const { epoch, lastSeq: seq } = live;
      return {
        run: new LocalRun({ agent, recording, live, dispose, clock }),
        input: prepared,
        eventId: formatCursor(getEnd(recording.session, { epoch, seq })),
      };
    });
  }

  async #startRun({ run, input, eventId }: CreatedRun, options: StartOptions): Promise<RunStart> {
    const { agent, session } = run;
    if (this.#isClosing) {
      await run.discard();
      throw createShutdownFailure();
    }
    this.#runs.set(session.id, run);
    try {
      const { ended } = await run.start(input, options);
      void ended.catch(() => {}).then(() => this.#forget(session.id, run));
      return { type: "started", runId: agent.state.runId, eventId, ended };
    } catch (error) {
      run.abort("The input was not persisted", { isHandedOver: false });
      await run.ended.catch(() => {});
      this.#forget(session.id, run);
      throw error;
    }
  }

  #checkOpen(): void {
    if (this.#isClosing) throw createShutdownFailure();
  }

  #forget(id: string, run: LocalRun): void {
    if (this.#runs.get(id) === run) this.#runs.delete(id);
    const live = this.#live.get(getLiveKey(run.session.header));
    if (live) live.lastUsed = this.#options.clock.now();
    this.#removeOldEvents();
  }

  /** Returns the active run of a session; throws if the session is not the caller's. */
  #findRun(key: SessionKey): LocalRun | undefined {
    const run = this.#runs.get(key.id);
    if (!run) return undefined;
    const { tenant, user } = run.session.header;
    const isOwn = (key.tenant === undefined || key.tenant === tenant) &&
      (key.user === undefined || key.user === user);
    if (isOwn) return run;
    throw new SessionError(`The session "${key.id}" does not exist`, { reason: "not_found" });
  }

  async #describeLog(session: Session): Promise<Pick<SessionDetail, "summary" | "eventId">> {
    const live = this.#live.get(getLiveKey(session.header));
    const position = live && { epoch: live.epoch, seq: live.lastSeq };
    const eventId = formatCursor(getEnd(session, position));
    return { eventId, summary: await readSummary(session) };
  }

  #getLive(header: SessionHeader): LiveEvents {
    const key = getLiveKey(header);
    const known = this.#live.get(key);
    const live = known ?? new LiveEvents(`${this.#epoch}${(this.#epochs++).toString(36)}`);
    live.lastUsed = this.#options.clock.now();
    if (known) return known;
    this.#live.set(key, live);
    this.#removeOldEvents();
    return live;
  }

  /** Removes the events of a session that was deleted, and ends its streams. */
  #removeEvents(id: string): void {
    for (const [key, live] of this.#live) {
      if (!key.startsWith(getLiveKeyPrefix(id))) continue;
      this.#live.delete(key);
      live.notify();
    }
  }

  /** Removes events of sessions that have neither a run nor a client. */
  #removeOldEvents(): void {
    const now = this.#options.clock.now();
    if (Math.abs(now - this.#lastRemoval) < REMOVAL_INTERVAL_MS) return;
    this.#lastRemoval = now;
    const before = now - this.#options.keepEventsMs;
    const running = new Set(
      [...this.#runs.values()].map(({ session }) => getLiveKey(session.header)),
    );
    const unused = [...this.#live].filter(([key, { watchers }]) =>
      watchers === 0 && !running.has(key)
    ).sort(([, left], [, right]) => left.lastUsed - right.lastUsed);
    unused.forEach(([key, { lastUsed }], index) => {
      if (lastUsed < before || unused.length - index > MAX_KEPT) this.#live.delete(key);
    });
  }

  #openStored(key: SessionKey): Promise<Session> {
    return scopeSessions(this.#options.store, key).open(key.id, { access: "read" });
  }
}

/**
 * Returns the key of the live events of a session. One that was deleted may have had the same id, and belong to another
 * tenant.
 */
function getLiveKey({ id, tenant, user }: SessionHeader): string {
  return `${getLiveKeyPrefix(id)}${JSON.stringify([tenant, user])}`;
}

function getLiveKeyPrefix(id: string): string {
  return `${JSON.stringify(id)} `;
}

async function closeOnError<Result>(
  resource: { close(): Promise<void> },
  task: () => Promise<Result>,
): Promise<Result> {
  try {
    return await task();
  } catch (error) {
    await resource.close();
    throw error;
  }
}

/** Restores a session into an agent; one that serves another session is an error of the application. */
async function restoreInto(
  agent: Agent,
  resumed: ResumedSession,
  { now }: Clock,
): Promise<ResumedAgent> {
  try {
    return await resumed.into(agent, { now });
  } catch (error) {
    const isOfStore = error instanceof SessionError || !AgentError.is(error);
    throw isOfStore ? error : new ApplicationError(error);
  }
}
