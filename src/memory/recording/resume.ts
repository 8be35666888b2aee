/**
 * Resumes a session, including one that a crash interrupted in the middle of a turn.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { QueuedMessages } from "../../core/event.ts";
import type { HistoryRepair } from "../../core/history.ts";
import type { AgentMessage } from "../../core/message.ts";
import type { AgentTool } from "../../core/tool.ts";
import type { AgentToolResult } from "../../core/tool_result.ts";
import { AlreadyRunningError } from "../../core/errors.ts";
import type { Session, SessionDamage, SessionStore } from "../../core/session.ts";
import { forkSession } from "../transfer/fork.ts";
import { recordInto, type RecordSessionOptions, type SessionRecording } from "./recorder.ts";
import { readSessionState, type SessionState } from "./session_state.ts";
import {
  canRerun,
  createResultMessage,
  getResultWithoutRunning,
  type OpenHistory,
  type PendingCall,
  readOpenHistory,
  rerunToolCall,
} from "./pending_calls.ts";

/** Options for {@linkcode resumeSession}. */
export interface ResumeSessionOptions {
  /** The entry to resume from. Default: the leaf. */
  readonly leaf?: string | null;
  /**
   * Whether to resume in a fork, or the id of the fork. The original session, which may be open elsewhere, is not
   * changed. Default: `false`.
   */
  readonly fork?: boolean | string;
}

/** Options for {@linkcode ResumedSession.into}. */
export interface ResumeIntoOptions extends Pick<RecordSessionOptions, "transform" | "onError"> {
  /** Aborts tool calls that are run again. Default: none. */
  readonly signal?: AbortSignal;
  /** The clock, in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/** The recording of an agent that was resumed. */
export interface ResumedAgent extends SessionRecording {
  /** Names of tools that the session had and the agent lacks. */
  readonly missingTools: readonly string[];
}

/** A resumed session. */
export interface ResumedSession extends SessionState {
  /** The session, open for writing. */
  readonly session: Session;
  /** The valid history; a pending tool call has its recorded result or an error result. */
  readonly messages: readonly AgentMessage[];
  /** Tool calls of the interrupted turn without a result. */
  readonly pendingCalls: readonly PendingCall[];
  /** Repairs made in the history. */
  readonly repairs: readonly HistoryRepair[];
  /** Lines of the log that could not be read. */
  readonly damage: readonly SessionDamage[];
  /**
   * Restores history, model, tools and queues of the session into an idle agent, restores the session's compaction into
   * `transform`, and starts to record the agent. Tools that the session did not have are removed from the agent. Pending
   * tool calls are settled first; calls that may be repeated are run again. If `isInterrupted`, `agent.continue()`
   * continues the turn.
   *
   * @throws {AlreadyRunningError} While a run is active.
   */
  into(agent: Agent, options?: ResumeIntoOptions): Promise<ResumedAgent>;
}

/**
 * Opens a session that an agent can continue, even after a crash.
 *
 * @throws {SessionError} If the session cannot be opened; with the reason `locked` if it is open elsewhere.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { InMemorySessionStore, recordSession, resumeSession } from "@swink/agent/memory";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const store = new InMemorySessionStore();
 * const first = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * const recording = await recordSession(first, store, { id: "greeting" });
 * await first.prompt("Hello");
 * await recording.stop();
 *
 * const agent = new Agent({ model: "any/other", streamFn: scriptedStream([reply("Bye!")]) });
 * const resumed = await resumeSession(store, "greeting");
 * await using resumedRecording = await resumed.into(agent);
 * await agent.prompt("Goodbye");
 * agent.state.messages.length; // 4
 * agent.state.model.modelId; // "model"
 * ```
 */
export async function resumeSession(
  store: SessionStore,
  id: string,
  { leaf, fork = false }: ResumeSessionOptions = {},
): Promise<ResumedSession> {
  const session = fork === false ? await store.open(id) : await forkSession(store, id, {
    ...(leaf !== undefined && { leaf }),
    ...(typeof fork === "string" && { id: fork }),
  });
  try {
    if (fork === false && leaf !== undefined && leaf !== session.leafId) session.moveLeaf(leaf);
    const path = await session.path();
    return createResumedSession(
      session,
      readSessionState(path),
      await readOpenHistory(session, path),
    );
  } catch (error) {
    await session.close();
    throw error;
  }
}

function createResumedSession(
  session: Session,
  state: SessionState,
  history: OpenHistory,
): ResumedSession {
  const { messages, repairs, pending } = history;
  const results = pending.map((call) =>
    createResultMessage(call.call, getResultWithoutRunning(call), messages.at(-1)?.timestamp ?? 0)
  );
  return {
    ...state,
    session,
    messages: [...messages, ...results],
    pendingCalls: pending,
    repairs,
    damage: session.damage,
    into: (agent, options) => resumeInto(agent, { session, state, history }, options),
  };
}

interface ResumeContext {
  readonly session: Session;
  readonly state: SessionState;
  readonly history: OpenHistory;
}

async function resumeInto(
  agent: Agent,
  { session, state, history }: ResumeContext,
  options: ResumeIntoOptions = {},
): Promise<ResumedAgent> {
  if (agent.state.isRunning) throw new AlreadyRunningError();
  const results = await settlePendingCalls(session, history, {
    ...options,
    tools: agent.state.tools,
  });
  agent.setMessages([...history.messages, ...results]);
  const missingTools = restoreTools(agent, state.toolNames);
  if (state.model) agent.setModel(state.model);
  options.transform?.restore(state.cut);
  restoreQueues(agent, state.queued);
  const recording = await recordInto(agent, session, options);
  return Object.assign(recording, { missingTools });
}

/** Appends a result for each pending tool call, to the log and to the returned messages. */
async function settlePendingCalls(
  session: Session,
  { pending, messageId }: OpenHistory,
  { tools, now = Date.now, signal = new AbortController().signal }: ResumeIntoOptions & {
    readonly tools: readonly AgentTool[];
  },
): Promise<readonly AgentMessage[]> {
  const results: AgentMessage[] = [];
  for (const call of pending) {
    const tool = tools.find(({ name }) => name === call.call.name);
    const result = call.type === "started" && canRerun(call, tool)
      ? await rerunAndRecord(session, call, { tool, signal, messageId })
      : getResultWithoutRunning(call);
    const message = createResultMessage(call.call, result, now());
    session.append({ type: "message", message });
    results.push(message);
  }
  await session.flush();
  return results;
}

/** Runs a tool call again and records it in the tool journal, since resuming may be interrupted too. */
async function rerunAndRecord(
  session: Session,
  call: Extract<PendingCall, { type: "started" }>,
  { tool, signal, messageId }: {
    readonly tool: AgentTool;
    readonly signal: AbortSignal;
    readonly messageId: string | null;
  },
): Promise<AgentToolResult> {
  const { toolCallId, name, arguments: args, sideEffect, idempotencyKey } = call.journal;
  const reference = { messageId, toolCallId, name };
  session.append({
    type: "tool_started",
    ...reference,
    arguments: args,
    sideEffect,
    idempotencyKey,
  });
  await session.flush();
  const result = await rerunToolCall(call, tool, signal);
  session.append({ type: "tool_finished", ...reference, result, isError: result.isError ?? false });
  return result;
}

/** Removes the agent's tools that the session did not have; returns the names of those that the agent lacks. */
function restoreTools(agent: Agent, names: readonly string[] | undefined): readonly string[] {
  if (!names) return [];
  const { tools } = agent.state;
  agent.setTools(tools.filter(({ name }) => names.includes(name)));
  return names.filter((name) => !tools.some((tool) => tool.name === name));
}

function restoreQueues(agent: Agent, { steering, followUp }: QueuedMessages): void {
  agent.clearQueues();
  for (const { message } of steering) agent.steer(message);
  for (const { message } of followUp) agent.followUp(message);
}
