/**
 * Runs the agents of sessions as durable runs of an engine.
 *
 * @module
 */

import type { ApprovalDecisions } from "../../core/approval/approval.ts";
import { checkFunction } from "../../core/checks/check_function.ts";
import { checkNames } from "../../core/checks/check_names.ts";
import { checkNumber } from "../../core/checks/check_number.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import type {
  DurableEngine,
  DurableRun,
  DurableWorkflow,
} from "../../core/durable/durable_engine.ts";
import {
  AlreadyRunningError,
  BadRequestError,
  InvalidContinueError,
  NetworkError,
} from "../../core/errors/errors.ts";
import type { AgentMessage, UserMessage } from "../../core/messages/message.ts";
import { type Clock, systemClock } from "../../core/ports/ports.ts";
import type { Session, SessionStore } from "../../core/sessions/session.ts";
import type { SessionHeader } from "../../core/sessions/session_entry.ts";
import { createContinueInput } from "../../loop/loop.ts";
import { scopeSessions } from "../../memory/storage/scoped_store.ts";
import { createShutdownFailure } from "../http/problem.ts";
import type {
  AgentRunner,
  CloseOptions,
  CloseReport,
  EventsOptions,
  FeedItem,
  QueuedInput,
  RunEnd,
  RunInput,
  RunStart,
  SessionDetail,
  SessionKey,
  StartOptions,
} from "../runner/agent_runner.ts";
import { checkCursor, formatCursor, parseCursor } from "../runner/event_cursor.ts";
import { comparePrompts, findRepeated } from "../runner/repeated_prompt.ts";
import { preparePrompt } from "../runner/served_agent.ts";
import { getEnd, readSummary } from "../runner/stored_session.ts";
import { DurableFeed } from "./durable_feed.ts";
import { getRunId } from "./get_run_id.ts";
import { type BeginRecord, toRecords } from "./run_record.ts";
import { type ActiveRun, SessionRuns } from "./session_runs.ts";
import {
  type CreateDurableAgent,
  createSessionWorkflow,
  type SessionRunInput,
} from "./session_workflow.ts";

/** Options for {@linkcode durableRunner}. */
export interface DurableRunnerOptions {
  /** The engine, which is not started yet: `start()` it after this, and `close()` it after the server. */
  readonly engine: DurableEngine;
  /** The sessions of all tenants, as of the server. */
  readonly store: SessionStore;
  /**
   * Creates the agent for a run with `durableAgent()`: again in each process that executes the run, with the same tools and
   * policies. An agent whose `approve` answers `{ type: "pending" }` leaves the decision to the clients.
   */
  readonly createAgent: CreateDurableAgent;
  /**
   * Returns the prompt to send for that of a client, before it is stored; a `BadRequestError` refuses it, and the client
   * gets its message. Default: the prompt as it is.
   */
  readonly preparePrompt?:
    | ((message: UserMessage, session: SessionHeader) => UserMessage | Promise<UserMessage>)
    | undefined;
  /** Name of the workflow. Default: `"session"`. */
  readonly name?: string | undefined;
  /**
   * Time after which a stream without a run gets the entries that others have appended, in milliseconds; `Infinity` never.
   * Default: 2,000.
   */
  readonly pollMs?: number | undefined;
  /** Port: time and timers. Default: those of the runtime. */
  readonly clock?: Clock | undefined;
}

const OPTION_NAMES: readonly (keyof DurableRunnerOptions)[] = [
  "engine",
  "store",
  "createAgent",
  "preparePrompt",
  "name",
  "pollMs",
  "clock",
];

/** Time in which a run begins, in milliseconds. */
const BEGIN_MS = 30_000;

/**
 * Creates a runner for the option `runner` of `createAgentServer()`, whose runs survive the end of their process.
 *
 * Every process with the same engine and the same store serves all sessions: prompts, messages, approvals and aborts reach
 * a run wherever it is executed, and a client that connects again to another process misses no event. The runs of a
 * process that ends are continued by the others.
 *
 * @throws {BadRequestError} If an option is missing, unknown or invalid, or the engine was started.
 *
 * @example
 * ```ts
 * import { durableAgent, InProcessEngine } from "@swink/agent/durable";
 * import { InMemorySessionStore } from "@swink/agent/memory";
 * import { createAgentServer } from "@swink/agent/server";
 * import { durableRunner } from "@swink/agent/server/durable";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const store = new InMemorySessionStore();
 * const engine = new InProcessEngine({ store: new InMemorySessionStore() });
 * const runner = durableRunner({
 *   engine,
 *   store,
 *   createAgent: (_session, steps) =>
 *     durableAgent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) }, steps),
 * });
 * await engine.start();
 * const server = createAgentServer({ store, runner });
 *
 * await server.close();
 * await engine.close(); // other processes continue the active runs
 * ```
 */
export function durableRunner(options: DurableRunnerOptions): AgentRunner {
  checkObject(options, "Pass options, as { engine, store, createAgent }");
  checkNames(options, OPTION_NAMES, "durableRunner()");
  const { engine, store, createAgent, preparePrompt, pollMs } = options;
  checkObject(engine, "Pass an engine, such as a DbosEngine");
  checkObject(store, "Pass a store of sessions, such as a PostgresSessionStore");
  checkFunction("createAgent", createAgent);
  if (preparePrompt !== undefined) checkFunction("preparePrompt", preparePrompt);
  checkNumber("pollMs", pollMs);
  return new DurableRunner(options);
}

class DurableRunner implements AgentRunner {
  readonly #options: DurableRunnerOptions;
  readonly #clock: Clock;
  readonly #workflow: DurableWorkflow<SessionRunInput, RunEnd>;
  /** Number of runs of a session that this process executes. */
  readonly #executed = new Map<string, number>();
  #isClosing = false;

  constructor(options: DurableRunnerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const { engine, store, createAgent, name = "session" } = options;
    const onExecution = (sessionId: string, change: 1 | -1) => {
      const count = (this.#executed.get(sessionId) ?? 0) + change;
      if (count > 0) this.#executed.set(sessionId, count);
      else this.#executed.delete(sessionId);
    };
    const clock = this.#clock;
    const workflow = createSessionWorkflow({ store, createAgent, clock, onExecution });
    this.#workflow = engine.register(name, workflow);
  }

  async start(key: SessionKey, input: RunInput, { policies }: StartOptions): Promise<RunStart> {
    this.#checkOpen();
    // A limit that is not applied must not seem to be.
    if (policies.length > 0) {
      throw new Error(
        "Policies of limits cannot be passed to another process: add them in createAgent",
      );
    }
    const runs = this.#getRuns(key);
    return await runs.withSession(async (session) => {
      const { active, nextId } = await runs.find(session);
      if (input.type === "approvals") return await this.#decide(session, active, input.decisions);
      if (active) return await this.#findActivePrompt(active, input);
      const messages = await readMessages(session);
      const repeated = await findRepeated(session, messages, input);
      if (repeated?.type === "repeated") return await withRun(session, repeated);
      if (repeated) return repeated;
      const { preparePrompt: prepare } = this.#options;
      const prompt = input.type === "prompt"
        ? await preparePrompt(
          input.message,
          prepare && ((message) => prepare(message, session.header)),
        )
        : undefined;
      if (!prompt) createContinueInput(messages, { steering: undefined, followUp: undefined });
      this.#checkOpen();
      return await this.#startRun(session, nextId, prompt);
    });
  }

  async send(key: SessionKey, { type, message }: QueuedInput): Promise<string | undefined> {
    const active = await this.#findActive(key);
    const id = message.id ?? crypto.randomUUID();
    const isSent = active &&
      await isAccepted(active.run.send({ type, message: { ...message, id } }));
    return isSent ? id : undefined;
  }

  async abort(key: SessionKey, reason: string): Promise<boolean> {
    const active = await this.#findActive(key);
    return active !== undefined && await isAccepted(active.run.abort(reason));
  }

  async describe(key: SessionKey): Promise<SessionDetail> {
    const runs = this.#getRuns(key);
    const { active, activity } = await runs.look();
    return await runs.withSession(async (session) => {
      const live = active && { epoch: active.runId, seq: active.last };
      const eventId = formatCursor(getEnd(session, live));
      return { ...activity, eventId, summary: await readSummary(session) };
    });
  }

  isRunning(sessionId: string): boolean {
    return this.#executed.has(sessionId);
  }

  async events(
    key: SessionKey,
    options: EventsOptions,
  ): Promise<AsyncIterable<readonly FeedItem[]>> {
    checkCursor(options.after);
    const { pollMs = 2_000 } = this.#options;
    const runs = this.#getRuns(key);
    // An error before the first event is that of the request.
    await runs.withSession(() => {});
    return new DurableFeed({ ...options, runs, pollMs, clock: this.#clock }).read();
  }

  async delete(key: SessionKey): Promise<void> {
    if (await this.#findActive(key)) throw new AlreadyRunningError();
    await scopeSessions(this.#options.store, key).delete(key.id);
  }

  /** Hands the runs over: other processes continue them when the engine is closed. */
  close(_options: CloseOptions): Promise<CloseReport> {
    this.#isClosing = true;
    return Promise.resolve({ ended: 0, handedOver: this.#executed.size });
  }

  async #startRun(
    session: Session,
    runId: string,
    prompt: SessionRunInput["prompt"],
  ): Promise<RunStart> {
    const { header, leafId: leaf } = session;
    const { position, entryId } = getEnd(session);
    const begin: BeginRecord = {
      type: "begin",
      sessionId: session.id,
      startId: crypto.randomUUID(),
      position,
      entryId,
      ...(prompt && { prompt: { id: prompt.id, metadata: prompt.metadata } }),
    };
    const run = await this.#workflow.start({ header, leaf, begin, ...(prompt && { prompt }) }, {
      id: runId,
    });
    const begun = await this.#awaitBegin(run);
    // Another request has started a run at the same moment, maybe with the same prompt.
    if (begun.startId !== begin.startId) {
      const input: RunInput = prompt ? { type: "prompt", message: prompt } : { type: "continue" };
      return await this.#findActivePrompt({ run, runId }, input);
    }
    const eventId = formatCursor({ position, entryId, live: { epoch: runId, seq: 0 } });
    return { type: "started", runId, eventId, ended: awaitEnd(run) };
  }

  /** Waits until a run has begun; rejects with its error if it has failed before. */
  async #awaitBegin(run: DurableRun<RunEnd>): Promise<BeginRecord> {
    const signal = AbortSignal.timeout(BEGIN_MS);
    for await (const batch of run.events({ signal })) {
      const [first] = toRecords(batch);
      if (first?.record.type === "begin") return first.record;
    }
    if (signal.aborted) throw new NetworkError("The run did not begin: try again later");
    await run.result();
    throw new NetworkError("The run has ended before it began");
  }

  async #decide(
    session: Session,
    active: ActiveRun | undefined,
    decisions: ApprovalDecisions,
  ): Promise<RunStart> {
    if (!active) throw new InvalidContinueError("No tool call of the session waits for a decision");
    const { runId, run, last: seq } = active;
    for (const [id, decision] of Object.entries(decisions)) await run.decide(id, decision);
    const eventId = formatCursor(getEnd(session, { epoch: runId, seq }));
    return { type: "resumed", runId, eventId };
  }

  /** Returns the active run if a request repeats its prompt. */
  async #findActivePrompt(
    { run, runId }: Pick<ActiveRun, "run" | "runId">,
    input: RunInput,
  ): Promise<RunStart> {
    const { prompt, position, entryId } = await this.#awaitBegin(run);
    const match = prompt ? comparePrompts(prompt, input) : "other";
    if (!prompt || match === "other") throw new AlreadyRunningError();
    if (match === "key_reused") return { type: "key_reused" };
    const eventId = formatCursor({ position, entryId, live: { epoch: runId, seq: 0 } });
    return { type: "repeated", messageId: prompt.id, eventId };
  }

  async #findActive(key: SessionKey): Promise<ActiveRun | undefined> {
    const runs = this.#getRuns(key);
    return (await runs.withSession((session) => runs.find(session))).active;
  }

  #getRuns(key: SessionKey): SessionRuns {
    const open = () => scopeSessions(this.#options.store, key).open(key.id, { access: "read" });
    return new SessionRuns({ engine: this.#options.engine, sessionId: key.id, open });
  }

  #checkOpen(): void {
    if (this.#isClosing) throw createShutdownFailure();
  }
}

async function readMessages(session: Session): Promise<readonly AgentMessage[]> {
  const entries = await session.path({ types: ["message"] });
  return entries.flatMap((entry) => entry.type === "message" ? [entry.message] : []);
}

/** Returns the position before the run of a prompt, so that the client gets its events if they are still kept. */
async function withRun(
  session: Session,
  repeated: Extract<RunStart, { readonly type: "repeated" }>,
): Promise<RunStart> {
  const found = parseCursor(repeated.eventId);
  const marker = found && session.outline[found.position - 1];
  const runId = marker && getRunId(await session.entry(marker.id));
  if (!found || runId === undefined) return repeated;
  const position = found.position - 1;
  const entryId = session.outline[position - 1]?.id ?? "";
  const eventId = formatCursor({ position, entryId, live: { epoch: runId, seq: 0 } });
  return { ...repeated, eventId };
}

/** Whether a run has accepted a message: it may have ended meanwhile. */
async function isAccepted(sending: Promise<void>): Promise<boolean> {
  try {
    await sending;
    return true;
  } catch (error) {
    if (error instanceof BadRequestError) return false;
    throw error;
  }
}

/** The end of a run that this process does not learn about, because its engine was closed. */
const UNKNOWN_END: RunEnd = {
  stopReason: "aborted",
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  cost: { input: null, output: null, cacheRead: null, cacheWrite: null, total: null },
};

/** Resolves to the end of a run; rejects with the error of one that has failed. */
async function awaitEnd(run: DurableRun<RunEnd>): Promise<RunEnd> {
  try {
    for await (const batch of run.events({ after: "checkpoint" })) {
      for (const { record } of toRecords(batch)) if (record.type === "finished") return record;
    }
    return await run.result();
  } catch (error) {
    if (await run.status().catch(() => undefined) === "failed") throw error;
    return UNKNOWN_END;
  }
}
