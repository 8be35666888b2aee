/**
 * The session of a durable run.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { AgentResult } from "../../agent/agent_result.ts";
import { checkNames } from "../../core/checks/check_names.ts";
import type { DurableSteps } from "../../core/durable/durable_steps.ts";
import { BadRequestError, SessionError } from "../../core/errors/errors.ts";
import type { QueuedMessages } from "../../core/events/event.ts";
import { repairHistory } from "../../core/messages/history.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { realSleep } from "../../core/ports/ports.ts";
import { findQueued, QUEUE_ENTRIES } from "../../core/sessions/queued_messages.ts";
import { createRunEndedEntry } from "../../core/sessions/run_ended_entry.ts";
import type { CreateSessionOptions, Session, SessionStore } from "../../core/sessions/session.ts";
import type {
  EntryOutline,
  SessionEntry,
  SessionEntryBody,
} from "../../core/sessions/session_entry.ts";
import { RunSteps } from "../steps/run_steps.ts";
import { DetachedError } from "../steps/step_journal.ts";
import {
  appendQueueChange,
  hasQueueChange,
  type QueueChange,
  SessionQueue,
} from "./session_queue.ts";

/** Name of the entry that precedes the messages of a run; its data have the `runId`. */
export const RUN_ENTRY = "durable_run";

const NONE_QUEUED: QueuedMessages = { steering: [], followUp: [] };

/** Pause before a session is requested again that another run has open, in milliseconds. */
const LOCK_PAUSE_MS = 50;
/** Pause before a call of a store that has failed is repeated, in milliseconds. */
const STORE_PAUSE_MS = 500;
/** Number of attempts in a row that a store refuses, as one also does that was out of reach a moment ago. */
const MAX_ATTEMPTS = 5;

/** Options for {@linkcode openDurableSession}. */
export interface DurableSessionOptions
  extends Pick<CreateSessionOptions, "cwd" | "tenant" | "user" | "metadata"> {
  /** Id of the session; it is created if it does not exist. */
  readonly id: string;
  /** The steps of the run. */
  readonly steps: DurableSteps;
  /**
   * The entry after which the run continues, or `null` for a new session: for applications that have read the session when
   * they started the run. Default: the leaf of the session, which a step reads.
   */
  readonly leaf?: string | null | undefined;
}

const OPTION_NAMES: readonly (keyof DurableSessionOptions)[] = [
  ...["id", "steps", "leaf", "cwd", "tenant", "user", "metadata"] as const,
];

/** The end of the log of a session when it was saved. */
export interface SavedPosition {
  /** Number of entries. */
  readonly entries: number;
  /** Id of the last one. */
  readonly entryId: string;
}

/** The session of a durable run. */
export interface DurableSession {
  /** Id of the session. */
  readonly id: string;
  /** Whether the session existed when the run began. */
  readonly resumed: boolean;
  /** Number of messages that the agent has added and that are not saved. */
  readonly unsaved: number;
  /**
   * Appends the messages that the agent has added since the session was opened or saved, as a step; `result` also records
   * how its run has ended, and the messages that it has left in the queues, which the next run delivers. Waits while another
   * run saves the session, and while the store cannot be reached. Rejects if the session was deleted meanwhile.
   */
  save(result?: AgentResult): Promise<SavedPosition>;
}

/**
 * Restores the history of a session into the agent of a durable run, and saves what the run adds to it.
 *
 * The session is open only while it is saved, so that a run that waits for days, or whose worker has died, does not lock
 * it. A run continues the history of its start, for which it waits while the store cannot be reached; runs of the same
 * session that overlap are saved one after the other.
 *
 * @throws {SessionError} If the session cannot be read.
 *
 * @example
 * ```ts
 * import { InProcessEngine, durableAgent, openDurableSession } from "@swink/agent/durable";
 * import { InMemorySessionStore } from "@swink/agent/memory";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const store = new InMemorySessionStore();
 * const streamFn = scriptedStream([reply("Hello!"), reply("Bye!")]);
 * await using engine = new InProcessEngine({ store: new InMemorySessionStore() });
 * const chat = engine.register("chat", async (steps, prompt: string) => {
 *   const agent = durableAgent({ model: "any/model", streamFn }, steps);
 *   const session = await openDurableSession(agent, store, { id: "ada", steps });
 *   const result = await agent.prompt(prompt);
 *   await session.save(result);
 *   return result.text;
 * });
 * await engine.start();
 * await (await chat.start("Hello")).result();
 * await (await chat.start("Goodbye")).result(); // the model gets both prompts
 * ```
 */
export async function openDurableSession(
  agent: Agent,
  store: SessionStore,
  options: DurableSessionOptions,
): Promise<DurableSession> {
  checkOptions(options);
  const { id, steps } = options;
  const leaf = options.leaf === undefined
    ? await steps.run(`session ${id}: open`, () => readLeaf(store, id))
    : options.leaf;
  // The path to an entry never changes, so that a replay reads the same history.
  const stored = leaf === null
    ? undefined
    : await repeatOnFailure(store, steps, () => readHistory(store, id, leaf));
  if (stored) agent.setMessages(stored.messages);
  const queue = new SessionQueue(agent, stored?.queued ?? NONE_QUEUED);
  const saver = new SessionSaver({ agent, store, session: options, leaf, queue });
  return {
    id,
    resumed: leaf !== null,
    get unsaved() {
      return saver.unsaved;
    },
    save: (result) => saver.save(result),
  };
}

function checkOptions(options: DurableSessionOptions): void {
  checkNames(options, OPTION_NAMES, "openDurableSession()");
  const { id, steps } = options ?? {};
  if (typeof id !== "string" || id === "") {
    throw new BadRequestError("A durable session needs an id");
  }
  if (typeof steps?.run !== "function") {
    throw new BadRequestError(
      "Pass the steps that the engine passes to the workflow, as { id, steps }",
    );
  }
}

/** Options for {@linkcode SessionSaver}. */
interface SessionSaverOptions {
  /** The agent, with the messages of the session. */
  readonly agent: Agent;
  readonly store: SessionStore;
  readonly session: DurableSessionOptions;
  /** The entry after which the run continues; `null` if the session did not exist when the run began. */
  readonly leaf: string | null;
  /** Its queues. */
  readonly queue: SessionQueue;
}

/** Saves what a run adds to its session. */
class SessionSaver {
  readonly #options: SessionSaverOptions;
  /** Number of messages of the agent that are in the session, or in a save that has begun. */
  #saved: number;
  /** The last entry of the session before the next save. */
  #lastEntry: string | null;

  constructor(options: SessionSaverOptions) {
    this.#options = options;
    this.#lastEntry = options.leaf;
    this.#saved = options.agent.state.messages.length;
  }

  get unsaved(): number {
    return this.#options.agent.state.messages.length - this.#saved;
  }

  async save(result: AgentResult | undefined): Promise<SavedPosition> {
    const { store, session, leaf } = this.#options;
    const { id, steps } = session;
    const saves = getSaves(steps);
    const part = saves.count(id);
    const entries = this.#takeEntries(result);
    const marker = { runId: steps.runId, part };
    // A session that is missing later was deleted, and must not come back.
    const mayCreate = leaf === null && !saves.has(store, id);
    const saved = { marker, entries, after: this.#lastEntry, mayCreate };
    // An abort of the run does not end this step, since the session must have the end of the run.
    const position = await steps.run(
      `session ${id}: save ${part}`,
      () => repeatOnFailure(store, steps, () => saveEntries(store, session, saved)),
    );
    this.#lastEntry = position.entryId;
    saves.add(store, id);
    return position;
  }

  /** Returns the entries of the messages that are not saved; with a result, also those of the queues and of the end. */
  #takeEntries(result: AgentResult | undefined): readonly SavedEntry[] {
    const { agent, queue } = this.#options;
    const { messages } = agent.state;
    const added = messages.slice(this.#saved);
    this.#saved = messages.length;
    const entries: SavedEntry[] = added.map((message) => ({ type: "message", message }));
    if (!result) return entries;
    const change = queue.takeChange();
    if (change) entries.push({ type: "queue_changed", change });
    return [...entries, createRunEndedEntry(result)];
  }
}

/** The saves of a run, whose agents may save the same session. */
class RunSaves {
  readonly #counts = new Map<string, number>();
  readonly #saved = new WeakMap<SessionStore, Set<string>>();

  /** Returns the number of the next save of the sessions with an id, from 1. */
  count(id: string): number {
    const count = (this.#counts.get(id) ?? 0) + 1;
    this.#counts.set(id, count);
    return count;
  }

  /** Whether a session was saved. Another store may have one with the same id. */
  has(store: SessionStore, id: string): boolean {
    return this.#saved.get(store)?.has(id) ?? false;
  }

  /** Notes that a session was saved. */
  add(store: SessionStore, id: string): void {
    const ids = this.#saved.get(store) ?? new Set();
    this.#saved.set(store, ids.add(id));
  }
}

const savesOfRuns = new WeakMap<DurableSteps, RunSaves>();

function getSaves(steps: DurableSteps): RunSaves {
  const saves = savesOfRuns.get(steps) ?? new RunSaves();
  savesOfRuns.set(steps, saves);
  return saves;
}

async function readLeaf(store: SessionStore, id: string): Promise<string | null> {
  try {
    const session = await store.open(id, { access: "read" });
    try {
      return session.leafId;
    } finally {
      await session.close();
    }
  } catch (error) {
    if (error instanceof SessionError && error.reason === "not_found") return null;
    throw error;
  }
}

/** Reads the messages of a path, and those that the last run has left in the queues. */
async function readHistory(
  store: SessionStore,
  id: string,
  leaf: string,
): Promise<{ readonly messages: readonly AgentMessage[]; readonly queued: QueuedMessages }> {
  const session = await store.open(id, { access: "read" });
  try {
    const entries = await session.path({ leaf, types: QUEUE_ENTRIES });
    const messages = entries.flatMap((entry) => entry.type === "message" ? [entry.message] : []);
    return { messages: repairHistory(messages).messages, queued: findQueued(entries) };
  } finally {
    await session.close();
  }
}

/** Repeats a call that can succeed later, since the run would end with the error, and lose what it has done. */
async function repeatOnFailure<Value>(
  store: SessionStore,
  steps: DurableSteps,
  call: () => Promise<Value>,
): Promise<Value> {
  for (let refusals = 0;;) {
    try {
      return await call();
    } catch (error) {
      if (isDetached(steps) || isFinal(error)) throw error;
      if (!isLockLost(error)) refusals = await isReachable(store) ? refusals + 1 : 0;
      if (refusals === MAX_ATTEMPTS) throw error;
    }
    await realSleep(STORE_PAUSE_MS);
  }
}

/** The reasons of errors of calls that can succeed later. */
const TEMPORARY: readonly SessionError["reason"][] = ["lock_lost", "read_failed", "write_failed"];

/** Whether a store has answered with an error, such as that of a session that was deleted. */
function isFinal(error: unknown): boolean {
  return error instanceof SessionError && !TEMPORARY.includes(error.reason);
}

/** Whether another run has taken over the session while this process was suspended. */
function isLockLost(error: unknown): boolean {
  return error instanceof SessionError && error.reason === "lock_lost";
}

function isDetached(steps: DurableSteps): boolean {
  return steps instanceof RunSteps && steps.isDetached;
}

/** Ends a step that another process executes. */
function throwIfDetached(steps: DurableSteps): void {
  if (isDetached(steps)) throw new DetachedError();
}

async function isReachable(store: SessionStore): Promise<boolean> {
  return await store.list({ limit: 1 }).then(() => true, () => false);
}

/** An entry to save; that of the queues depends on those that the session has then. */
type SavedEntry =
  | Exclude<SessionEntryBody, { readonly type: "queue_changed" }>
  | { readonly type: "queue_changed"; readonly change: QueueChange };

/** Entries of a run, after a marker by which a repeated step finds those that are stored. */
interface SavedEntries {
  readonly marker: { readonly runId: string; readonly part: number };
  readonly entries: readonly SavedEntry[];
  /** An entry that is older than the marker; `null` if there is none. */
  readonly after: string | null;
  /** Whether a session that does not exist is created. */
  readonly mayCreate: boolean;
}

async function saveEntries(
  store: SessionStore,
  options: DurableSessionOptions,
  saved: SavedEntries,
): Promise<SavedPosition> {
  const { marker, entries, mayCreate } = saved;
  const session = await openToWrite(store, { ...options, mayCreate });
  try {
    const stored = await countStored(session, saved);
    throwIfDetached(options.steps);
    if (stored === undefined) session.append({ type: "custom", name: RUN_ENTRY, data: marker });
    for (const entry of entries.slice(stored ?? 0)) {
      if (entry.type === "queue_changed") await appendQueueChange(session, entry.change);
      else session.append(entry);
    }
    await session.flush();
    const { outline } = session;
    return { entries: outline.length, entryId: outline.at(-1)?.id ?? "" };
  } finally {
    await session.close();
  }
}

/**
 * Returns the number of entries that an earlier attempt or another process has stored; `undefined` if the marker is not
 * stored. Others may have appended entries to the session since.
 */
async function countStored(
  session: Session,
  { marker, entries, after }: SavedEntries,
): Promise<number | undefined> {
  const later: EntryOutline[] = [];
  for (const node of walkBack(session, after)) {
    if (node.type === "custom" && isMarker(await session.entry(node.id), marker)) {
      return await countSame(session, later.toReversed(), entries);
    }
    later.push(node);
  }
  return undefined;
}

/** Yields the entries of the path after one of them, the last one first. */
function* walkBack(
  { outline, leafId }: Session,
  after: string | null,
): Generator<EntryOutline> {
  let next = leafId;
  for (let position = outline.length - 1; position >= 0 && next !== after; position--) {
    const node = outline[position];
    if (node?.id !== next) continue;
    yield node;
    next = node.parentId;
  }
}

function isMarker(
  entry: SessionEntry | undefined,
  { runId, part }: SavedEntries["marker"],
): boolean {
  if (entry?.type !== "custom" || entry.name !== RUN_ENTRY) return false;
  const data = entry.data as Partial<SavedEntries["marker"]> | null;
  return data?.runId === runId && data.part === part;
}

/** Returns the number of the first entries of a save that are stored, between which others may be. */
async function countSame(
  session: Session,
  stored: readonly EntryOutline[],
  entries: readonly SavedEntry[],
): Promise<number> {
  let count = 0;
  for (const { id, type } of stored) {
    const { [count]: entry } = entries;
    if (entry?.type === type && isSame(await session.entry(id), entry)) count++;
  }
  return count;
}

function isSame(stored: SessionEntry | undefined, entry: SavedEntry): boolean {
  if (entry.type === "queue_changed") {
    return stored?.type === "queue_changed" && hasQueueChange(stored.queued, entry.change);
  }
  if (stored?.type !== "message" || entry.type !== "message") return hasParts(stored, entry);
  const { message } = entry;
  // Messages of runs have ids, which are the same in every replay.
  if (message.id !== undefined) return stored.message.id === message.id;
  return hasParts(stored.message, { ...message, timestamp: stored.message.timestamp });
}

/** Whether an object has the properties of another one, as JSON. */
function hasParts(object: object | undefined, parts: object): boolean {
  const values = new Map<string, unknown>(Object.entries(object ?? {}));
  return Object.entries(parts).every(([name, value]) =>
    JSON.stringify(values.get(name)) === JSON.stringify(value)
  );
}

async function openToWrite(
  store: SessionStore,
  { id, cwd, tenant, user, metadata, steps, mayCreate }: DurableSessionOptions & {
    readonly mayCreate: boolean;
  },
): Promise<Session> {
  while (true) {
    try {
      return await store.open(id);
    } catch (error) {
      if (!(error instanceof SessionError)) throw error;
      if (error.reason === "not_found" && mayCreate) {
        const created = await create(store, { id, cwd, tenant, user, metadata });
        if (created) return created;
      } else if (error.reason !== "locked") {
        throw error;
      }
    }
    throwIfDetached(steps);
    await realSleep(LOCK_PAUSE_MS);
  }
}

/** Creates a session; `undefined` if another run has created it meanwhile. */
async function create(
  store: SessionStore,
  options: CreateSessionOptions,
): Promise<Session | undefined> {
  try {
    return await store.create(options);
  } catch (error) {
    const isTaken = error instanceof SessionError &&
      (error.reason === "already_exists" || error.reason === "locked");
    if (isTaken) return undefined;
    throw error;
  }
}
