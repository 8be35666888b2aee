/**
 * Records the events of an agent as entries of a session.
 *
 * The agent awaits its listeners, so that the tool journal has a tool call on disk before the tool runs.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { AlreadyRunningError, type SessionError } from "../../core/errors/errors.ts";
import type {
  AgentEvent,
  CustomEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  TurnEndEvent,
} from "../../core/events/event.ts";
import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import { hasContent } from "../../core/messages/history.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { toPlanEntry } from "../../core/sessions/plan_entry.ts";
import { createRunEndedEntry } from "../../core/sessions/run_ended_entry.ts";
import type { Session, SessionStore } from "../../core/sessions/session.ts";
import { safeStringify } from "../store/safe_stringify.ts";
import { toSessionError } from "../store/session_errors.ts";
import { AgentClaim } from "./agent_claim.ts";
import { type AgentHooks, findHooks, restoreCut } from "./agent_hooks.ts";
import { ApprovalEntries } from "./approval_entries.ts";
import { createPendingEntry, createStartedEntry } from "./call_entries.ts";
import { createCompactionEntry, getReportedCut, isSameCompaction } from "./compaction_entry.ts";
import { findAgentTool } from "./list_agent_tools.ts";
import { findLoggedCut } from "./logged_cut.ts";
import { readLoggedHistory } from "./logged_history.ts";
import { LoggedPath, type ReadPath } from "./logged_path.ts";
import { LostWrites } from "./lost_writes.ts";
import { getSideEffect } from "./pending_calls.ts";
import { listPlanEntries } from "./plan_entries.ts";
import { QueueTracker } from "./queue_tracker.ts";
import type { RecordSessionOptions, SessionRecording } from "./session_recording.ts";
import { hasQueued, readSessionState, type SessionState } from "./session_state.ts";
import { settleCalls } from "./settle_calls.ts";
import { StoredTools } from "./stored_tools.ts";
import { type DetachedAgent, SubAgentSessions } from "./sub_agent_sessions.ts";

/** Options for `recordInto()`; the `store` has the sessions of sub-agents. */
export type RecorderOptions =
  & Pick<RecordSessionOptions, "transform" | "approvalGate" | "onError">
  & {
    readonly store?: SessionStore;
    /** The current path of the session, if it has just been read. */
    readonly known?: ReadPath | undefined;
    /** The claim for the session. Default: a new one. */
    readonly claim?: AgentClaim | undefined;
  };

/** Records an agent into an open session. */
export async function recordInto(
  agent: Agent,
  session: Session,
  options: RecorderOptions,
): Promise<SessionRecording> {
  const claim = options.claim ?? new AgentClaim(agent, session.id);
  claim.setId(session.id);
  const recorder = new Recorder(agent, session, { ...options, claim });
  try {
    await recorder.start(options.known);
    return recorder;
  } catch (error) {
    claim.release();
    throw error;
  }
}

class Recorder implements SessionRecording {
  readonly session: Session;
  readonly #agent: Agent;
  readonly #options: RecorderOptions;
  readonly #hooks: AgentHooks;
  readonly #path: LoggedPath;
  readonly #queues = new QueueTracker();
  readonly #subAgents: SubAgentSessions;
  readonly #lostWrites: LostWrites;
  readonly #specs = new StoredTools();
  readonly #approvals: ApprovalEntries;
  /** The last compaction that was recorded before its event. */
  #recordedCompaction: CompactionReport | undefined;
  /** Why the session could not be written, so that the rest of the run is not recorded. */
  #failure: SessionError | undefined;
  #runId = "";
  /** Id of the entry of the reply whose tool calls run. */
  #replyEntryId: string | null = null;
  #unsubscribe: () => void = () => {};
  /** Resolves when the last change of the path is complete. */
  #changed: Promise<void> = Promise.resolve();
  /** Whether the path has the history of the active run, whose events add the rest. */
  #hasStarted = false;
  /** Whether the agent may already belong to another session. */
  #isStopped = false;

  constructor(agent: Agent, session: Session, options: RecorderOptions) {
    this.session = session;
    this.#agent = agent;
    this.#options = options;
    this.#hooks = findHooks(agent, options);
    this.#path = new LoggedPath(session);
    const { approvalGate: gate } = this.#hooks;
    this.#approvals = new ApprovalEntries({ agent, session, path: this.#path, gate });
    this.#lostWrites = new LostWrites(session);
    const { store } = options;
    this.#subAgents = new SubAgentSessions({
      agent,
      session,
      store,
      record: (child, childSession) => recordInto(child, childSession, { ...(store && { store }) }),
      onError: (error) => this.#fail(error),
    });
  }

  get detachedAgents(): readonly DetachedAgent[] {
    return this.#subAgents.detached;
  }

  async start(known: ReadPath | undefined): Promise<void> {
    const path = await this.#path.read(known);
    this.#unsubscribe = this.#agent.subscribe((event) => this.#onEvent(event));
    const { transform } = this.#hooks;
    if (transform) transform.onCompact = (report) => this.#recordManualCompaction(report);
    const isRecorded = this.#queues.start(this.#agent, path);
    if (this.#agent.hasPendingMessages && !isRecorded) this.#recordQueues();
    this.#runId = this.#agent.state.runId;
    // The events of an active run until now are missing.
    if (this.#agent.state.isRunning) await this.#startRun().catch((error) => this.#fail(error));
    else await this.#subAgents.attach();
  }

  async rewind(entryId: string | null): Promise<void> {
    const agent = this.#agent;
    if (agent.state.isRunning) throw new AlreadyRunningError();
    const before = readSessionState(await this.session.path());
    const path = await this.session.path({ leaf: entryId });
    const history = await readLoggedHistory(this.session, path);
    const timestamp = history.messages.at(-1)?.timestamp ?? 0;
    const { results, batch } = settleCalls(history, { tools: [], maxAttempts: 0, timestamp });
    if (agent.state.isRunning) throw new AlreadyRunningError();
    this.session.moveLeaf(entryId); // First, since a closed session throws.
    agent.setMessages([...history.messages, ...results], batch);
    restoreCut(agent, this.#hooks, findLoggedCut(path, history));
    await this.#path.read();
    for (const result of results) this.#path.appendMessage(result);
    this.#recordSettings(before, readSessionState(path));
    await this.session.flush();
  }

  async flush(): Promise<void> {
    if (this.#failure) throw this.#failure;
    try {
      if (!this.#lostWrites.exist) {
        const { isRunning, messages } = this.#agent.state;
        this.#addMessages(
          messages,
          (added) => this.#path.appendBetweenRuns({ isRunning, messages: added }),
        );
        this.#recordLateQueues();
      }
      await this.session.flush();
      this.#lostWrites.check();
    } catch (error) {
      this.#fail(error);
    }
    if (this.#failure) throw this.#failure;
  }

  async stop(): Promise<void> {
    // The results of sub-agents that end are recorded. Those of an active run may work on.
    if (!this.#agent.state.isRunning && this.#subAgents.isEnding) await this.#subAgents.settle();
    this.#unsubscribe();
    this.#options.claim?.end();
    this.#subAgents.stop();
    const { transform } = this.#hooks;
    if (transform) transform.onCompact = undefined;
    try {
      if (!this.#failure) this.#recordLateQueues();
      this.#isStopped = true;
      // A session without any other entry stays empty.
      if (!this.#failure && this.session.leafId !== null) this.#approvals.recordGate();
    } finally {
      await this.session.close();
    }
    // Of a run that was complete before its last entries were written, the result has no error.
    if (this.#failure) throw this.#failure;
    this.#lostWrites.check();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Records changes of the queues between runs whose events are late: a slow listener delays those of later changes. */
  #recordLateQueues(): void {
    const { queued, state: { isRunning } } = this.#agent;
    if (isRunning || this.#isStopped || this.#queues.isCurrent(queued)) return;
    this.#recordQueues();
  }

  /** Records an event; returns a promise only if the next event must wait for the disk. */
  #onEvent(event: AgentEvent): Promise<void> | undefined {
    if (event.type === "agent_start" || event.type === "agent_end") this.#hasStarted = false;
    if (this.#failure && event.type !== "agent_start") return undefined;
    try {
      // Between runs, each change of the queues is complete, and the next run records all that is missing.
      if (this.#agent.state.isRunning && event.type !== "agent_start") this.#lostWrites.check();
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
        this.#approvals.onRequested(event);
        return undefined;
      case "tool_approval_resolved":
        this.#approvals.recordDecision(event);
        return undefined;
      case "context_compacted":
        this.#recordReportedCompaction(event.report);
        return undefined;
      case "queue_changed":
        this.#recordQueueChange(event);
        return undefined;
      case "model_changed":
        this.#path.recordSetting({ type: "model_changed", model: event.to });
        return undefined;
      case "custom":
        this.#recordCustom(event);
        return undefined;
      case "turn_start":
        this.#recordAgentSettings();
        return undefined;
      case "turn_end":
        this.#approvals.recordGate();
        this.#recordPendingApprovals(event);
        return this.session.flush();
      case "agent_end":
        this.#approvals.recordGate();
        this.session.append(createRunEndedEntry(event));
        return this.session.flush();
      case "sub_agent":
        this.#subAgents.recordMessage(event);
        return undefined;
      case "message_start":
      case "message_update":
      case "tool_execution_update":
      case "retry":
      case "model_fallback":
      case "model_call_start":
      case "model_call_end":
      case "warning":
        return undefined;
    }
  }

  /** Whether entries could not be written, so that the log lacks a part of what the agent has. */
  get #isSuspended(): boolean {
    return this.#failure !== undefined || this.#lostWrites.exist;
  }

  /** Suspends the recording and aborts the run, so that no tool runs unrecorded. */
  #fail(thrown: unknown): void {
    const error = toSessionError(thrown, { id: this.session.id, reason: "write_failed" });
    // Several flushes may reject with the error of one write.
    const isReported = this.#failure === error;
    this.#failure = error;
    this.#agent.abort(error);
    // An error of `onError` must end neither the recording nor the program: the abort reason is that of the session.
    if (!isReported) (async () => await this.#options.onError?.(error))().catch(() => {});
  }

  async #startRun(): Promise<void> {
    const wasSuspended = this.#isSuspended;
    this.#failure = undefined;
    this.#lostWrites.forget();
    const { messages } = this.#agent.state;
    await this.#changePath(async () => {
      // Entries that could not be written were removed from the session.
      if (this.#path.hasLeafMoved() || wasSuspended) {
        await this.#path.read();
        if (wasSuspended || this.#agent.hasPendingMessages) this.#recordQueues();
      }
      await this.#matchPath(messages);
      this.#hasStarted = true;
    });
    const reply = messages.findLast(({ role }) => role === "assistant");
    this.#replyEntryId = this.#path.getEntryId(reply);
    this.#recordAgentSettings();
    this.#approvals.recordGate();
    this.#recordPlanMode();
    await this.#subAgents.attach();
    // Aborts the run before the first model call if the session cannot be written.
    await this.session.flush();
  }

  /** Changes the path after the changes before are complete. */
  #changePath(change: () => Promise<void>): Promise<void> {
    const changed = this.#changed.then(change);
    this.#changed = changed.catch(() => {}); // The caller reports the error.
    return changed;
  }

  /** Makes the path match a history. State that is not in the messages stays when the path must branch. */
  async #matchPath(messages: readonly AgentMessage[]): Promise<void> {
    const common = this.#path.countCommon(messages);
    const mustBranch = this.#path.hasMoreThan(common);
    const before = mustBranch ? readSessionState(await this.session.path()) : undefined;
    if (mustBranch) await this.#path.branch(common);
    this.#addMessages(messages, (added) => this.#path.appendRest(added));
    if (!before) return;
    const after = readSessionState(await this.session.path());
    this.#recordSettings(before, after);
    if (before.plan && safeStringify(before.plan) !== safeStringify(after.plan)) {
      for (const entry of listPlanEntries(before.plan)) this.session.append(entry);
    }
    this.#recordCurrentCut(messages);
  }

  /** Adds messages to the path. One that had none gets the cut of the history, too, after the messages of that time. */
  #addMessages(
    messages: readonly AgentMessage[],
    add: (messages: readonly AgentMessage[]) => void,
  ): void {
    if (!this.#path.hasMoreThan(0)) {
      const { transform } = this.#hooks;
      transform?.view(messages); // Finds the cut, whose positions are then those in the messages.
      add(messages.slice(0, transform?.cut?.length));
      if (this.#path.hasMoreThan(0)) this.#recordCurrentCut(messages);
    }
    add(messages);
  }

  /** Records the cut of a history that the path has got without it. The tokens of the compaction are counted already. */
  #recordCurrentCut(messages: readonly AgentMessage[]): void {
    const { transform } = this.#hooks;
    transform?.view(messages); // Finds the cut again if one of its ends was removed.
    const cut = transform?.cutMessages;
    const range = cut && this.#path.findRange(cut);
    if (range) {
      this.#recordCompaction({ droppedCount: range.count, tokensBefore: 0, tokensAfter: 0 });
    }
  }

  /** Records the settings of an earlier path that another one lacks. */
  #recordSettings(before: SessionState, after: SessionState): void {
    const { approvalMode, grants, planMode } = before;
    if (approvalMode) this.#path.recordSetting({ type: "approval_mode", mode: approvalMode });
    if (grants) this.#path.recordSetting({ type: "grants_changed", grants });
    if (planMode !== after.planMode) {
      this.#path.recordSetting({ type: "plan_mode", active: planMode });
    }
    if (this.#agent.hasPendingMessages || hasQueued(after.queued)) this.#recordQueues();
    this.#recordAgentSettings();
  }

  /** Records the model, the tools and the system prompt if they have changed. */
  #recordAgentSettings(): void {
    const { model, tools, systemPrompt } = this.#agent.state;
    this.#path.recordSetting({ type: "model_changed", model });
    const names = tools.map(({ name }) => name);
    this.#path.recordSetting({ type: "tools_changed", names, tools: this.#specs.get(tools) });
    const type = "system_prompt_changed";
    this.#path.recordSetting({ type, systemPrompt }, { type, systemPrompt: "" });
  }

  /** Records an event of the application, or an entry about a plan. */
  #recordCustom(event: CustomEvent): void {
    const entry = toPlanEntry(event);
    if (entry?.type === "plan_mode") this.#path.recordSetting(entry);
    else this.session.append(entry ?? { type: "custom", name: event.name, data: event.data });
  }

  /** Records plan mode if it has changed. */
  #recordPlanMode(): void {
    const { planMode } = this.#hooks;
    if (!planMode) return;
    const type = "plan_mode";
    this.#path.recordSetting({ type, active: planMode.isActive }, { type, active: false });
  }

  /** Records the queues between runs, when none of their messages is being delivered. */
  #recordQueues(): void {
    this.session.append(this.#queues.update(this.#agent.queued, false));
  }

  /** Records a change; one between runs whose event is late may be older than what is recorded. */
  #recordQueueChange(
    { queued, seq }: Extract<AgentEvent, { type: "queue_changed" }>,
  ): void {
    if (seq === undefined && !this.#agent.state.isRunning) this.#recordQueues();
    else this.session.append(this.#queues.update(queued, seq !== undefined));
  }

  /** Returns the message of the history that an event has a copy of; a listener may have changed the copy. */
  #findMessage(copy: AgentMessage): AgentMessage {
    const { messages } = this.#agent.state;
    const isSame = ({ id }: AgentMessage) => id !== undefined && id === copy.id;
    return messages.findLast(isSame) ?? copy;
  }

  #recordMessage(message: AgentMessage): void {
    if (message.role === "assistant" && !hasContent(message.content)) {
      // The failed attempts of a reply without content have a price, too.
      if (message.usage.total > 0) this.session.append({ type: "reply_failed", message });
      return;
    }
    const id = this.#path.appendMessage(message);
    this.#queues.markDelivered(message);
    if (message.role === "assistant") this.#replyEntryId = id;
  }

  #recordCallStart(event: ToolExecutionStartEvent): Promise<void> | undefined {
    const sideEffect = getSideEffect(findAgentTool(this.#agent, event.name));
    const origin = { messageId: this.#replyEntryId, runId: this.#runId };
    this.session.append(createStartedEntry(event, { ...origin, sideEffect }));
    // A call that runs again may have ended the process: the attempt must be counted first.
    const isRepeated = event.idempotencyKey !== undefined;
    return sideEffect === "none" && !isRepeated ? undefined : this.session.flush();
  }

  #recordCallEnd({ id, name, result, isError }: ToolExecutionEndEvent): void {
    const call = { messageId: this.#replyEntryId, toolCallId: id, name };
    this.session.append({ type: "tool_finished", ...call, result, isError });
  }

  #recordPendingApprovals(event: TurnEndEvent): void {
    const entry = createPendingEntry(event, this.#replyEntryId);
    if (entry) this.session.append(entry);
  }

  async #recordManualCompaction(report: CompactionReport): Promise<void> {
    this.#recordedCompaction = report;
    await this.#changePath(async () => {
      if (this.#isSuspended) {
        await this.#path.read();
        this.#recordQueues();
      }
      if (!this.#hasStarted) await this.#matchPath(this.#agent.state.messages);
      this.#recordCompaction(report);
    });
    await this.session.flush();
    this.#failure = undefined;
    this.#lostWrites.forget();
  }

  /** Records a compaction unless `compact()` has recorded it already. */
  #recordReportedCompaction(report: CompactionReport): void {
    const recorded = this.#recordedCompaction;
    this.#recordedCompaction = undefined;
    const isRecorded = recorded !== undefined && isSameCompaction(recorded, report);
    if (!isRecorded) return this.#recordCompaction(report);
    // It has what earlier summaries have spent.
    if (report.usage || report.cost) this.#recordCompaction({ ...report, droppedCount: 0 });
  }

  #recordCompaction(report: CompactionReport): void {
    const { transform } = this.#hooks;
    const cut = transform ? transform.cutMessages : getReportedCut(report);
    const range = cut && this.#path.findRange(cut);
    this.session.append(createCompactionEntry(report, { cut, range }));
  }
}
