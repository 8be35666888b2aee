/**
 * Resumes a session, including one that a crash interrupted in the middle of a turn.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { PendingApproval } from "../../core/approval/approval.ts";
import { checkNames } from "../../core/checks/check_names.ts";
import { AlreadyRunningError, BadRequestError } from "../../core/errors/errors.ts";
import type { HistoryRepair } from "../../core/messages/history.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { createResultMessage } from "../../core/messages/result_message.ts";
import type { Session, SessionDamage, SessionStore } from "../../core/sessions/session.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import type { ContextCut } from "../context/compaction.ts";
import { forkSession } from "../transfer/fork.ts";
import { type AgentClaim, claimAgent } from "./agent_claim.ts";
import {
  type AgentHookOptions,
  findHooks,
  restoreCut,
  restoreGate,
  restorePlanMode,
} from "./agent_hooks.ts";
import { listAgentTools } from "./list_agent_tools.ts";
import { findLoggedCut, type LoggedCut } from "./logged_cut.ts";
import { type LoggedHistory, needsReply, readLoggedHistory } from "./logged_history.ts";
import { getResultWithoutRunning, type PendingCall } from "./pending_calls.ts";
import { recordInto } from "./recorder.ts";
import { restoreQueues } from "./restore_queues.ts";
import type { RecordSessionOptions, SessionRecording } from "./session_recording.ts";
import { hasQueued, readSessionState, type SessionState } from "./session_state.ts";
import { settleCalls } from "./settle_calls.ts";

/** Options for {@linkcode resumeSession}. */
export interface ResumeSessionOptions {
  /** The entry to resume from. Default: the leaf. */
  readonly leaf?: string | null | undefined;
  /**
   * Whether to resume in a fork, or the id of the fork. The original session, which may be open elsewhere, is not
   * changed. Default: `false`.
   */
  readonly fork?: boolean | string | undefined;
}

const OPTION_NAMES: Readonly<Record<keyof ResumeSessionOptions, true>> = { leaf: true, fork: true };

/** Options for {@linkcode ResumedSession.into}. */
export interface ResumeIntoOptions extends AgentHookOptions, Pick<RecordSessionOptions, "onError"> {
  /**
   * Number of times that a tool call may start in all; one that was interrupted each time gets an error result.
   * Default: 3.
   */
  readonly maxToolAttempts?: number | undefined;
  /** The clock, in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
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
  /** The valid history; a pending tool call has its recorded result or an error result, unless approvals are pending. */
  readonly messages: readonly AgentMessage[];
  /** Tool calls of the interrupted turn without a result. */
  readonly pendingCalls: readonly PendingCall[];
  /** Tool calls that wait for a decision, which `agent.continue({ approvals })` gives. */
  readonly pendingApprovals: readonly PendingApproval[];
  /** The part of `messages` that requests omit, if any. */
  readonly cut?: ContextCut;
  /** Repairs made in the history. */
  readonly repairs: readonly HistoryRepair[];
  /** Lines of the log that could not be read. */
  readonly damage: readonly SessionDamage[];
  /**
   * Restores the session into an idle agent, and starts to record it: history, model, queues, plan mode, compaction, the
   * mode and the grants of the approval gate, and pending approvals. The tools of the agent stay; in plan mode only those
   * that are read-only. Runs no tool: calls that may be repeated run in `agent.continue()`, after validation, policies
   * and approval. Repeated calls with the same agent return the same recording.
   *
   * @throws {AlreadyRunningError} While a run is active.
   * @throws {BadRequestError} If the session was resumed into another agent, or if the agent is recorded in another
   * session that is open.
   */
  into(agent: Agent, options?: ResumeIntoOptions): Promise<ResumedAgent>;
}

/**
 * Opens a session that an agent can continue, even after a crash.
 *
 * @throws {SessionError} If the session cannot be opened; with the reason `locked` if it is open elsewhere.
 * @throws {BadRequestError} If an option is unknown.
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
  options: ResumeSessionOptions = {},
): Promise<ResumedSession> {
  checkNames(options, Object.keys(OPTION_NAMES), "resumeSession()");
  const { leaf, fork = false } = options;
  const session = fork === false ? await store.open(id) : await forkSession(store, id, {
    ...(leaf !== undefined && { leaf }),
    ...(typeof fork === "string" && { id: fork }),
  });
  try {
    if (fork === false && leaf !== undefined && leaf !== session.leafId) session.moveLeaf(leaf);
    return createResumedSession(await readContext(session, store));
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** Reads the path of a session. */
async function readContext(session: Session, store: SessionStore): Promise<ResumeContext> {
  const path = await session.path();
  const history = await readLoggedHistory(session, path);
  const cut = findLoggedCut(path, history);
  const entryCount = session.outline.length;
  return { session, store, path, entryCount, state: readSessionState(path), history, cut };
}

function createResumedSession(context: ResumeContext): ResumedSession {
  const { session, store, state, history, cut } = context;
  const { messages, repairs, open } = history;
  const pendingApprovals = open?.approvals?.pendingApprovals ?? [];
  const calls = open?.calls ?? [];
  const timestamp = messages.at(-1)?.timestamp ?? 0;
  const results = pendingApprovals.length > 0
    ? []
    : calls.map((call) => createResultMessage(call.call, getResultWithoutRunning(call), timestamp));
  const canContinue = hasQueued(state.queued) || needsReply(history);
  // An attempt that has failed may have appended results.
  let hasFailed = false;
  let resumed: { readonly agent: Agent; readonly recording: Promise<ResumedAgent> } | undefined;
  return {
    ...state,
    isInterrupted: state.isInterrupted && canContinue && pendingApprovals.length === 0,
    session,
    messages: [...messages, ...results],
    pendingCalls: calls,
    pendingApprovals,
    ...(cut && { cut: cut.cut }),
    repairs,
    damage: session.damage,
    into: async (agent, options) => {
      if (resumed && resumed.agent !== agent) {
        throw new BadRequestError(
          `The session "${session.id}" was resumed into another agent: close it and resume it again`,
        );
      }
      resumed ??= {
        agent,
        recording: (hasFailed ? readContext(session, store) : Promise.resolve(context))
          .then((context) => resumeInto(agent, context, options)),
      };
      try {
        return await resumed.recording;
      } catch (error) {
        resumed = undefined;
        hasFailed = true;
        throw error;
      }
    },
  };
}

interface ResumeContext {
  readonly session: Session;
  readonly store: SessionStore;
  readonly path: readonly SessionEntry[];
  /** Number of entries of the session when it was read. */
  readonly entryCount: number;
  readonly state: SessionState;
  readonly history: LoggedHistory;
  readonly cut: LoggedCut | undefined;
}

async function resumeInto(
  agent: Agent,
  context: ResumeContext,
  options: ResumeIntoOptions | undefined,
): Promise<ResumedAgent> {
  if (agent.state.isRunning) throw new AlreadyRunningError();
  const claim = claimAgent(agent, context.session.id);
  try {
    return await restoreInto(agent, context, claim, options);
  } catch (error) {
    claim.release();
    throw error;
  }
}

async function restoreInto(
  agent: Agent,
  { session, store, path, entryCount, state, history, cut }: ResumeContext,
  claim: AgentClaim,
  { maxToolAttempts = 3, now = Date.now, ...options }: ResumeIntoOptions = {},
): Promise<ResumedAgent> {
  const { tools } = agent.state;
  if (state.planMode) restorePlanMode(agent, findHooks(agent, options));
  const { results, batch } = settleCalls(history, {
    tools: listAgentTools(agent),
    maxAttempts: maxToolAttempts,
    timestamp: now(),
  });
  for (const message of results) session.append({ type: "message", message });
  if (results.length > 0) await session.flush();
  agent.setMessages([...history.messages, ...results], batch);
  if (state.model) agent.setModel(state.model);
  restoreQueues(agent, state.queued);
  restoreHooks(agent, { state, cut, options });
  const isCurrent = session.outline.length === entryCount;
  const known = isCurrent ? { path, history } : undefined;
  const recording = await recordInto(agent, session, { ...options, store, known, claim });
  const missingTools = (state.toolNames ?? []).filter((name) =>
    !tools.some((tool) => tool.name === name)
  );
  return Object.assign(recording, { missingTools });
}

function restoreHooks(
  agent: Agent,
  { state: { approvalMode, grants }, cut, options }:
    & Pick<ResumeContext, "state" | "cut">
    & {
      readonly options: AgentHookOptions;
    },
): void {
  const hooks = findHooks(agent, options);
  if (hooks.transform) restoreCut(agent, hooks, cut);
  else options.transform?.restore(cut?.cut); // A transform of the application.
  restoreGate(hooks, { ...(approvalMode && { mode: approvalMode }), ...(grants && { grants }) });
}
