/**
 * Records the events of an agent as entries of a session.
 *
 * The agent awaits its listeners, so that the tool journal has a tool call on disk before the tool runs.
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
import type { CompactionReport } from "../../core/compaction_report.ts";
import { extractToolCalls } from "../../core/content.ts";
import { hasContent } from "../../core/history.ts";
import type { AgentMessage } from "../../core/message.ts";
import type { CreateSessionOptions, Session, SessionStore } from "../../core/session.ts";
import type { RunEndedEntry } from "../../core/session_entry.ts";
import type { AgentTool, SideEffect } from "../../core/tool.ts";
import { getUnreportedCompaction } from "../context/compacting_transform.ts";
import type { CompactingTransform } from "../context/compaction.ts";
import { LoggedPath } from "./logged_path.ts";
import { QueueTracker } from "./queue_tracker.ts";
import { readSessionState } from "./session_state.ts";

/** Options for {@linkcode recordSession}; those for a new session are ignored if there is an open one. */
export interface RecordSessionOptions
  extends Pick<CreateSessionOptions, "id" | "cwd" | "tenant" | "user" | "metadata"> {
  /** An open session to continue. Default: a new one. */
  readonly session?: Session;
  /** The agent's transform: rewinding restores its cut, and the recording includes the result of `compact()`. */
  readonly transform?: CompactingTransform;
  /** Called when the session cannot be written, after the run was aborted. Default: none. */
  readonly onError?: (error: SessionError) => void;
}

/** The recording of an agent. */
export interface SessionRecording extends AsyncDisposable {
  /** The session. The host appends its own entries (a title, a plan, a label) directly. */
  readonly session: Session;
  /**
   * Moves the leaf to an entry, and sets the agent's history to the messages up to it; `null` clears it.
   *
   * @throws {AlreadyRunningError} While a run is active.
   */
  rewind(entryId: string | null): Promise<void>;
  /** Stops recording and closes the session. */
  stop(): Promise<void>;
}

/**
 * Records an agent into a session: messages, start and end of tool calls, changes of model, tools and queues,
 * approvals and compactions. The existing history is recorded at the start of the next run.
 *
 * Entries are synced to disk before a tool with side effects runs and at the end of every turn. If they cannot be
 * written, the run is aborted with a {@linkcode SessionError} as its reason, and the next run records the missing
 * messages.
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
 * await agent.prompt("Hello");
 * (await recording.session.path({ types: ["message"] })).length; // 2
 * ```
 */
export async function recordSession(
  agent: Agent,
  store: SessionStore,
  { session, transform, onError, ...create }: RecordSessionOptions = {},
): Promise<SessionRecording> {
  const options = { ...(transform && { transform }), ...(onError && { onError }) };
  return await recordInto(agent, session ?? await store.create(create), options);
}

type RecorderOptions = Pick<RecordSessionOptions, "transform" | "onError">;

/** Records an agent into an open session. */
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
  /** Whether the session could not be written, so that the rest of the run is not recorded. */
  #isSuspended = false;
  #runId = "";
  /** Id of the entry of the reply whose tool calls run. */
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
    const { transform } = this.#options;
    const compaction = transform && getUnreportedCompaction(transform);
    if (compaction && !this.#isSuspended) this.#recordCompaction(compaction);
    await this.session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Records an event; returns a promise only if the next event must wait for the disk. */
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
        this.#recordMessage(this.#findMessage(event.message));
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
      case "model_call_start":
      case "model_call_end":
      case "sub_agent":
      case "warning":
        return undefined;
    }
  }

  /** Suspends the recording and aborts the run, so that no tool runs unrecorded. */
  #fail(thrown: unknown): void {
    this.#isSuspended = true;
    const error = thrown instanceof SessionError ? thrown : new SessionError(
      `Cannot record into the session "${this.session.id}": ${getErrorMessage(thrown)}`,
      { reason: "write_failed", cause: thrown },
    );
    this.#agent.abort(error);
    this.#options.onError?.(error);
  }

  async #startRun(): Promise<void> {
    const wasSuspended = this.#isSuspended;
    this.#isSuspended = false;
    // Entries that could not be written were removed from the session.
    if (this.#path.hasLeafMoved() || wasSuspended) await this.#path.read();
    if (wasSuspended) this.#recordQueues(false);
    const { messages, model, tools } = this.#agent.state;
    this.#path.syncHistory(messages);
    this.#path.recordModel(model);
    this.#path.recordTools(tools);
    // Aborts the run before the first model call if the session cannot be written.
    await this.session.flush();
  }

  #recordQueues(isRunning: boolean): void {
    this.session.append(this.#queues.update(this.#agent.queued, isRunning));
  }

  /** Returns the message of the history that an event has a copy of; a listener may have changed the copy. */
  #findMessage(copy: AgentMessage): AgentMessage {
    const { messages } = this.#agent.state;
    const isSame = ({ id }: AgentMessage) => id !== undefined && id === copy.id;
    return messages.findLast(isSame) ?? copy;
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

  #getEntryId(copy: AgentMessage | undefined): string | null {
    return copy ? this.#path.getEntryId(this.#findMessage(copy)) : null;
  }

  #recordCompaction(report: CompactionReport): void {
    const { droppedMessages = [], droppedCount, tokensBefore, tokensAfter } = report;
    const { summary, usage, cost } = report;
    this.session.append({
      type: "compaction",
      firstDroppedId: this.#getEntryId(droppedMessages[0]),
      lastDroppedId: this.#getEntryId(droppedMessages.at(-1)),
      droppedCount,
      tokensBefore,
      tokensAfter,
      ...(summary !== undefined && { summary }),
      ...(usage !== undefined && { usage }),
      ...(cost !== undefined && { cost }),
    });
  }
}

/**
 * Returns the side effect of a tool. Default: `none` for a read-only tool, otherwise `once`, also for an unknown tool.
 */
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
