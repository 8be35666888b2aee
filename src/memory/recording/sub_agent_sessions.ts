/**
 * The sessions of the sub-agents of a recorded agent.
 *
 * @module
 */

import { Agent } from "../../agent/agent.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { SubAgentEvent } from "../../core/events/event.ts";
import {
  runSessions,
  type SubAgentOutcome,
  type SubAgentSession,
  type SubAgentStart,
} from "../../core/events/run_session.ts";
import { describeKeptWorktree, formatSubAgentReport } from "../../core/events/sub_agent_report.ts";
import { hasContent } from "../../core/messages/history.ts";
import { createDeferred, type Deferred } from "../../core/ports/deferred.ts";
import type { Session, SessionStore } from "../../core/sessions/session.ts";
import type { SessionEntryBody, SubAgentSpawnedEntry } from "../../core/sessions/session_entry.ts";
import { createLinkedOptions } from "../store/sub_agent_link.ts";
import { QueuedReports } from "./queued_reports.ts";
import { readSubAgentEnding } from "./sub_agent_ending.ts";

/** A detached sub-agent that works, also after the end of the run that started it. */
export interface DetachedAgent {
  /** Id of its session. */
  readonly sessionId: string;
  /** Name of the kind of sub-agent. */
  readonly name: string;
  /** Its prompt. */
  readonly prompt: string;
  /** Id of the tool call that started it. */
  readonly toolCallId: string;
  /** Resolves when it has ended and its report is recorded. Never rejects. */
  readonly ended: Promise<void>;
  /** Cancels it, which its report states. */
  readonly cancel: (reason?: unknown) => void;
}

/** Records an agent into an open session. */
type RecordAgent = (
  agent: Agent,
  session: Session,
) => Promise<{ readonly stop: () => Promise<void> }>;

/** Options for `new SubAgentSessions()`. */
export interface SubAgentSessionsOptions {
  /** The agent that starts sub-agents. */
  readonly agent: Agent;
  /** Its session. */
  readonly session: Session;
  /** The store of the sessions. Default: none; the session has the messages of sub-agents. */
  readonly store: SessionStore | undefined;
  /** Records a sub-agent. */
  readonly record: RecordAgent;
  /** Called when the session of the agent cannot be written. */
  readonly onError: (error: unknown) => void;
}

/** Records sub-agents into sessions of their own. */
export class SubAgentSessions {
  readonly #options: SubAgentSessionsOptions;
  /** Ids of the tool calls whose agents have sessions of their own. */
  readonly #recordedCalls = new Set<string>();
  /** Ids of the sessions of sub-agents that this process runs. */
  readonly #active = new Set<string>();
  readonly #detached = new Map<string, DetachedAgent>();
  /** The ends of sub-agents that end with the run, or were cancelled. */
  readonly #ending = new Set<Promise<void>>();
  /** The sub-agents of the path without a result that this process does not run; `undefined` until it was read. */
  #unsettled: readonly SubAgentSpawnedEntry[] | undefined;
  readonly #reports: QueuedReports;
  #isStopped = false;

  /** Creates the sessions of an agent that has started no sub-agent. */
  constructor(options: SubAgentSessionsOptions) {
    this.#options = options;
    this.#reports = new QueuedReports(options.agent);
  }

  /** The detached sub-agents that work. */
  get detached(): readonly DetachedAgent[] {
    return [...this.#detached.values()];
  }

  /** Makes the session known to the tools of the agent's next run, and records what ended without a record. */
  async attach(): Promise<void> {
    const { agent, session, store } = this.#options;
    if (!store) return;
    this.#reports.start();
    runSessions.set(agent.state, {
      id: session.id,
      startSubAgent: (child, start) => this.#start(child, start),
    });
    await this.#recordEndings(store);
  }

  /** Stops recording into the session of the agent. Sub-agents that work are recorded into their own. */
  stop(): void {
    this.#isStopped = true;
    this.#reports.stop();
    const { agent, session } = this.#options;
    if (runSessions.get(agent.state)?.id === session.id) runSessions.delete(agent.state);
  }

  /** Whether sub-agents that end with the run, or were cancelled, have not ended. */
  get isEnding(): boolean {
    return this.#ending.size > 0;
  }

  /** Resolves when the sub-agents that end with the run, or were cancelled, have ended and their sessions are closed. */
  async settle(): Promise<void> {
    while (this.#ending.size > 0) await Promise.all(this.#ending);
  }

  #addEnding(ended: Promise<void>): void {
    this.#ending.add(ended);
    void ended.then(() => this.#ending.delete(ended));
  }

  /** Records the message of a sub-agent that has no session of its own. */
  recordMessage({ path, event }: SubAgentEvent): void {
    const [callId = ""] = path;
    if (event.type !== "message_end" || this.#recordedCalls.has(callId)) return;
    const { message } = event;
    if (message.role === "assistant" && !hasContent(message.content)) return;
    this.#options.session.append({ type: "sub_agent_message", path, message });
  }

  /** Records the ends of sub-agents that ended with their process, or after the session was closed. */
  async #recordEndings(store: SessionStore): Promise<void> {
    const unsettled = this.#unsettled ?? await this.#readUnsettled();
    const working: SubAgentSpawnedEntry[] = [];
    for (const entry of unsettled) {
      const ending = await readSubAgentEnding(store, entry, this.#options.session.header);
      if (!ending) working.push(entry);
      else if (!this.#isStopped) {
        // Not awaited: a listener that waits for an event delays all events.
        void this.#recordEnd(entry, addWorktree(entry, ending))
          ?.catch((error) => this.#options.onError(error));
      }
    }
    this.#unsettled = working;
  }

  async #readUnsettled(): Promise<readonly SubAgentSpawnedEntry[]> {
    const types = ["sub_agent_spawned", "sub_agent_result"] as const;
    const path = await this.#options.session.path({ types });
    const ended = new Set(
      path.flatMap((entry) => entry.type === "sub_agent_result" ? [entry.subAgentId] : []),
    );
    return path.flatMap((entry) =>
      entry.type === "sub_agent_spawned" && !ended.has(entry.subAgentId) ? [entry] : []
    );
  }

  async #start(child: object, start: SubAgentStart): Promise<SubAgentSession> {
    const ended = createDeferred<void>();
    if (start.mode !== "detached") this.#addEnding(ended.promise);
    try {
      return await this.#startRecorded(child, start, ended);
    } catch (error) {
      ended.resolve();
      throw error;
    }
  }

  async #startRecorded(
    child: object,
    start: SubAgentStart,
    { promise: ended, resolve: markEnded }: Deferred<void>,
  ): Promise<SubAgentSession> {
    const { session, store, record } = this.#options;
    if (!(child instanceof Agent)) {
      throw new BadRequestError("Only an agent of this version of the library can be recorded");
    }
    if (!store || this.#isStopped) throw new BadRequestError("The session of the run is closed");
    const { name, prompt, toolCallId, mode = "foreground", worktree } = start;
    const own = await store.create(createLinkedOptions(session.header, toolCallId));
    const entry: Omit<SubAgentSpawnedEntry, "toolCallId"> & { readonly toolCallId: string } = {
      type: "sub_agent_spawned",
      subAgentId: own.id,
      sessionId: own.id,
      toolCallId,
      name,
      prompt,
      ...(mode !== "foreground" && { mode }),
      ...(worktree && { worktree: { directory: worktree.directory, branch: worktree.branch } }),
    };
    let stop: () => Promise<void> = () => own.close();
    try {
      this.#active.add(own.id);
      this.#recordedCalls.add(toolCallId);
      const recording = await record(child, own);
      stop = () => recording.stop();
      session.append(entry);
      // A crash must not leave a session that no other one names.
      await session.flush();
    } catch (error) {
      this.#active.delete(own.id);
      await stop().catch(() => {});
      throw error;
    }
    if (mode === "detached") {
      const cancel = (reason?: unknown): void => {
        if (start.cancel) this.#addEnding(ended);
        start.cancel?.(reason);
      };
      this.#detached.set(own.id, { sessionId: own.id, name, prompt, toolCallId, ended, cancel });
    }
    const end = async (outcome: SubAgentOutcome): Promise<void> => {
      // The recording of the sub-agent has aborted it if its session could not be written.
      await stop().catch(() => {});
      await this.#end(entry, outcome);
      markEnded();
    };
    return { sessionId: own.id, end };
  }

  async #end(entry: SubAgentSpawnedEntry, outcome: SubAgentOutcome): Promise<void> {
    try {
      // Without a record, the next recording reads the end from the session of the sub-agent.
      if (!this.#isStopped) await this.#recordEnd(entry, outcome);
      if (!this.#isStopped) await this.#options.session.flush();
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#active.delete(entry.subAgentId);
      this.#detached.delete(entry.subAgentId);
    }
  }

  /** Queues the report before the result is recorded, since one that is queued twice is better than one that is lost. */
  #recordEnd(entry: SubAgentSpawnedEntry, outcome: SubAgentOutcome): Promise<void> | undefined {
    const isOwn = this.#active.has(entry.subAgentId);
    const append = (): void => {
      if (this.#isStopped) return;
      this.#options.session.append(createResultEntry(entry, outcome, isOwn));
    };
    const { mode = "foreground" } = entry;
    // The run that cancels its background work has no use for the report.
    const isCancelled = mode === "background" && isOwn && outcome.status === "aborted";
    const isQueued = mode !== "foreground" && !isCancelled;
    const queued = isQueued ? this.#reports.add(formatReport(entry, outcome)) : undefined;
    if (queued) return queued.then(append);
    append();
    return undefined;
  }
}

function formatReport(
  { name = "", toolCallId = "", sessionId }: SubAgentSpawnedEntry,
  { status, result }: SubAgentOutcome,
): string {
  return formatSubAgentReport({ name, toolCallId, status, sessionId }, result);
}

/** Adds the worktree that an interrupted sub-agent has left to its report. */
function addWorktree(
  { worktree }: SubAgentSpawnedEntry,
  { result, ...ending }: SubAgentOutcome,
): SubAgentOutcome {
  const text = describeKeptWorktree(worktree);
  return { ...ending, result: text === "" ? result : `${result}\n\n${text}` };
}

function createResultEntry(
  { subAgentId, mode = "foreground" }: SubAgentSpawnedEntry,
  { status, result, usage, cost }: SubAgentOutcome,
  isOwn: boolean,
): SessionEntryBody {
  return {
    type: "sub_agent_result",
    subAgentId,
    result,
    isError: status !== "completed",
    status,
    ...(usage && { usage }),
    ...(cost && { cost }),
    ...(isOwn && mode === "foreground" && { isCounted: true }),
  };
}
