/**
 * What an agent does becomes entries of a session.
 *
 * Listeners are awaited, so that what the journal says of a tool call is on the disk before the tool runs.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { getErrorMessage, SessionError } from "../../core/errors.ts";
import type {
  AgentEndEvent,
  AgentEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
} from "../../core/event.ts";
import type { CompactionReport } from "../../core/context.ts";
import { extractToolCalls } from "../../core/content.ts";
import { hasContent } from "../../core/history.ts";
import type { AgentMessage } from "../../core/message.ts";
import type { Session, SessionStore } from "../../core/session.ts";
import type { RunEndedEntry } from "../../core/session_entry.ts";
import type { AgentTool, SideEffect } from "../../core/tool.ts";
import type { CompactingTransform } from "../context/compaction.ts";
import { LoggedPath } from "./logged_path.ts";
import { QueueTracker } from "./queue_tracker.ts";
import { readSessionState } from "./session_state.ts";

/** Options of {@linkcode recordSession}. */
export interface RecordSessionOptions {
  /** An open session to go on with. Default: a new one. */
  readonly session?: Session;
  /** Name of the new session. Default: the time and something random. */
  readonly id?: string;
  /** The folder that the new session is about. */
  readonly cwd?: string;
  /** The agent's own transform: rewinding takes its compactions back, and one by hand is not lost. */
  readonly transform?: CompactingTransform;
  /** Is told when the session cannot be written, after the run was aborted for it. */
  readonly onError?: (error: SessionError) => void;
}

/** An agent that is recorded. */
export interface SessionRecording extends AsyncDisposable {
  /** The session. Entries of the host's own (a title, a plan, a label) are appended to it directly. */
  readonly session: Session;
  /**
   * Goes back to an entry: moves the leaf there, and gives the agent the history that leads to it.
   *
   * @throws {AlreadyRunningError} While a run is active.
   */
  rewind(entryId: string | null): Promise<void>;
  /** Stops recording and closes the session. */
  stop(): Promise<void>;
}

/**
 * Records an agent into a session: messages, tool calls as they start and end, changes of model, tools and
 * queues, approvals, compactions. What is in the history already is recorded with the next run.
 *
 * Before a tool with side effects runs, and at the end of every turn, what was recorded is on the disk. When
 * it cannot be written, the run is aborted with the {@linkcode SessionError} as its reason, and the next run
 * records what is missing.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { InMemorySessionStore, recordSession } from "@swink/agent/memory";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const store = new InMemorySessionStore();
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * await using recording = await recordSession(agent, store);
 * await agent.prompt("Say hello");
 * (await recording.session.path({ types: ["message"] })).length; // 2
 * ```
 */
export async function recordSession(
  agent: Agent,
  store: SessionStore,
  { session, id, cwd, ...options }: RecordSessionOptions = {},
): Promise<SessionRecording> {
  const create = { ...(id !== undefined && { id }), ...(cwd !== undefined && { cwd }) };
  return await recordInto(agent, session ?? await store.create(create), options);
}

type RecorderOptions = Pick<RecordSessionOptions, "transform" | "onError">;

/** Records an agent into a session that is open. */
export async function recordInto(
  agent: Agent,
  session: Session,
  options: RecorderOptions,
): Promise<SessionRecording> {
  const recorder = new Recorder(agent, session, options);
  await recorder.start();
  return recorder;
}

class Recorder implements SessionRecording {
  readonly session: Session;
  readonly #agent: Agent;
  readonly #options: RecorderOptions;
  readonly #path: LoggedPath;
  readonly #queues = new QueueTracker();
  readonly #requestedApprovals = new Map<string, string>();
  /** Whether the session could not be written, and this run is not recorded any more. */
  #isSuspended = false;
  #runId = "";
  /** The entry of the reply whose calls run. */
  #replyEntryId: string | null = null;
  #unsubscribe: () => void = () => {};

  constructor(agent: Agent, session: Session, options: RecorderOptions) {
    this.session = session;
    this.#agent = agent;
    this.#options = options;
    this.#path = new LoggedPath(session);
  }

  async start(): Promise<void> {
    await this.#path.read();
    this.#unsubscribe = this.#agent.subscribe((event) => this.#onEvent(event));
    if (this.#agent.hasPendingMessages) this.#recordQueues(false);
  }

  async rewind(entryId: string | null): Promise<void> {
    const path = await this.session.path({ leaf: entryId });
    const messages = path.flatMap((entry) => entry.type === "message" ? [entry.message] : []);
    this.#agent.setMessages(messages);
    this.#options.transform?.restore(readSessionState(path).cut);
    this.session.moveLeaf(entryId);
    await this.session.flush();
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    const untold = this.#options.transform?.unreportedCompaction;
    if (untold && !this.#isSuspended) this.#recordCompaction(untold);
    await this.session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Takes an event; a promise only where something must be on the disk before the next one. */
  #onEvent(event: AgentEvent): Promise<void> | undefined {
    if (this.#isSuspended && event.type !== "agent_start") return undefined;
    try {
      return this.#recordEvent(event)?.catch((error) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  #recordEvent(event: AgentEvent): Promise<void> | undefined {
    switch (event.type) {
      case "agent_start":
        this.#runId = event.runId;
        return this.#startRun();
      case "message_end":
        this.#recordMessage(event.message);
        return undefined;
      case "tool_execution_start":
        return this.#recordCallStart(event);
      case "tool_execution_end":
        this.#recordCallEnd(event);
        return undefined;
      case "tool_approval_requested":
        this.#requestedApprovals.set(event.id, event.name);
        return undefined;
      case "tool_approval_resolved":
        this.#recordApproval(event);
        return undefined;
      case "context_compacted":
        this.#recordCompaction(event.report);
        return undefined;
      case "queue_changed":
        this.session.append(this.#queues.update(event.queued, event.seq !== undefined));
        return undefined;
      case "model_changed":
        this.#path.recordModel(event.to);
        return undefined;
      case "custom":
        this.session.append({ type: "custom", name: event.name, data: event.data });
        return undefined;
      case "turn_end":
        return this.session.flush();
      case "agent_end":
        this.session.append(createRunEndedEntry(event));
        return this.session.flush();
      case "turn_start":
      case "message_start":
      case "message_update":
      case "tool_execution_update":
      case "retry":
      case "model_fallback":
      case "warning":
        return undefined;
    }
  }

  /** A session that cannot be written must not go on unrecorded. */
  #fail(thrown: unknown): void {
    this.#isSuspended = true;
    const error = thrown instanceof SessionError ? thrown : new SessionError(
      `The session "${this.session.id}" cannot be recorded: ${getErrorMessage(thrown)}`,
      { reason: "write_failed", cause: thrown },
    );
    this.#agent.abort(error);
    this.#options.onError?.(error);
  }

  async #startRun(): Promise<void> {
    const wasSuspended = this.#isSuspended;
    this.#isSuspended = false;
    // What could not be written is not in the session any more.
    if (this.#path.hasLeafMoved() || wasSuspended) await this.#path.read();
    if (wasSuspended) this.#recordQueues(false);
    const { messages, model, tools } = this.#agent.state;
    this.#path.syncHistory(messages);
    this.#path.recordModel(model);
    this.#path.recordTools(tools);
    // What cannot be recorded should not cost a model call.
    await this.session.flush();
  }

  #recordQueues(isRunning: boolean): void {
    this.session.append(this.#queues.update(this.#agent.queued, isRunning));
  }

  #recordMessage(message: AgentMessage): void {
    if (message.role === "assistant" && !hasContent(message.content)) return;
    const id = this.#path.appendMessage(message);
    this.#queues.markDelivered(message);
    if (message.role === "assistant" && extractToolCalls(message.content).length > 0) {
      this.#replyEntryId = id;
    }
  }

  #recordCallStart(
    { id, name, arguments: args }: ToolExecutionStartEvent,
  ): Promise<void> | undefined {
    const sideEffect = getSideEffect(this.#agent.state.tools.find((tool) => tool.name === name));
    this.session.append({
      type: "tool_started",
      messageId: this.#replyEntryId,
      toolCallId: id,
      name,
      arguments: args,
      sideEffect,
      idempotencyKey: `${this.#runId}:${id}`,
    });
    return sideEffect === "none" ? undefined : this.session.flush();
  }

  #recordCallEnd({ id, name, result, isError }: ToolExecutionEndEvent): void {
    const call = { messageId: this.#replyEntryId, toolCallId: id, name };
    this.session.append({ type: "tool_finished", ...call, result, isError });
  }

  #recordApproval(
    { id, decision }: Extract<AgentEvent, { type: "tool_approval_resolved" }>,
  ): void {
    const name = this.#requestedApprovals.get(id) ?? "";
    this.#requestedApprovals.delete(id);
    this.session.append({ type: "approval", toolCallId: id, name, decision });
  }

  #recordCompaction(report: CompactionReport): void {
    const { droppedMessages = [], droppedCount, tokensBefore, tokensAfter } = report;
    const { summary, usage, cost } = report;
    this.session.append({
      type: "compaction",
      firstDroppedId: this.#path.getEntryId(droppedMessages[0]),
      lastDroppedId: this.#path.getEntryId(droppedMessages.at(-1)),
      droppedCount,
      tokensBefore,
      tokensAfter,
      ...(summary !== undefined && { summary }),
      ...(usage !== undefined && { usage }),
      ...(cost !== undefined && { cost }),
    });
  }
}

/** What a repetition of a tool's call would do, as far as the tool tells. */
export function getSideEffect(tool: AgentTool | undefined): SideEffect {
  return tool?.sideEffect ?? (tool?.readOnly ? "none" : "once");
}

function createRunEndedEntry({ stopReason, error, stoppedBy }: AgentEndEvent): RunEndedEntry {
  return {
    type: "run_ended",
    stopReason,
    ...(error && { error: error.toJSON() }),
    ...(stoppedBy && { stoppedBy }),
  };
}
