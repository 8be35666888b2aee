/**
 * Opens the session of a conversation, whether it exists or not.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { PendingApproval } from "../../core/approval/approval.ts";
import { SessionError } from "../../core/errors/errors.ts";
import type { SessionStore } from "../../core/sessions/session.ts";
import { scopeSessions } from "../storage/scoped_store.ts";
import { checkOptionsObject } from "../store/check_options_object.ts";
import { type AgentClaim, claimAgent } from "./agent_claim.ts";
import { recordNew } from "./record_session.ts";
import { type ResumedSession, type ResumeIntoOptions, resumeSession } from "./resume.ts";
import type { RecordSessionOptions, SessionRecording } from "./session_recording.ts";
import type { ResumedPlan } from "./session_state.ts";

/** Options for {@linkcode openSession}. */
export interface OpenSessionOptions
  extends Omit<RecordSessionOptions, "session" | "id">, ResumeIntoOptions {
  /** Id of the session. Default: a new session whose id is the current time with a random suffix. */
  readonly id?: string | undefined;
}

/** The session of an agent, which is recorded until it is closed. */
export interface OpenedSession extends SessionRecording {
  /** Id of the session. */
  readonly id: string;
  /** Whether the session existed, so that its state was restored into the agent. */
  readonly resumed: boolean;
  /** Whether the last run was interrupted with work left to do, which `agent.continue()` does. */
  readonly isInterrupted: boolean;
  /** Names of tools that the session had and the agent lacks. */
  readonly missingTools: readonly string[];
  /** Tool calls that wait for a decision, which `agent.continue({ approvals })` gives. */
  readonly pendingApprovals: readonly PendingApproval[];
  /** Whether plan mode is on, so that the agent has only its read-only tools. */
  readonly planMode: boolean;
  /** The last plan, if there is one. */
  readonly plan?: ResumedPlan;
  /** Stops recording and closes the session, as `stop()` does; rejects if entries of the last run could not be persisted. */
  close(): Promise<void>;
}

/**
 * Resumes the session with an id into an idle agent, or creates it, and records the agent from there on: one call for
 * each conversation of a server.
 *
 * A session that exists is restored completely, as `ResumedSession.into()` does: history, model, thinking level, queues,
 * plan mode, compaction, the mode and the grants of the agent's approval gate, and pending approvals.
 *
 * @throws {SessionError} If the session cannot be opened; with the reason `locked` if it is open elsewhere, and
 * `already_exists` if it belongs to another tenant or user than the options name.
 * @throws {AlreadyRunningError} If the session exists and a run of the agent is active.
 * @throws {BadRequestError} If the agent is recorded in another session that is open, or if the session is new and the
 * agent has the conversation of another one: each session needs an agent of its own.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { InMemorySessionStore, openSession } from "@swink/agent/memory";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const store = new InMemorySessionStore();
 * const streamFn = scriptedStream([reply("Hello!"), reply("Bye!")]);
 *
 * async function chat(id: string, text: string) {
 *   const agent = new Agent({ model: "any/model", streamFn });
 *   await using session = await openSession(store, { id }, agent);
 *   if (session.isInterrupted) await agent.continue();
 *   return (await agent.prompt(text)).text;
 * }
 *
 * await chat("ada", "Hello"); // creates the session
 * await chat("ada", "Goodbye"); // the model gets both prompts
 * ```
 */
export async function openSession(
  store: SessionStore,
  options: OpenSessionOptions,
  agent: Agent,
): Promise<OpenedSession> {
  checkOptionsObject("openSession()", options);
  const claim = claimAgent(agent, options.id);
  try {
    // A session of another tenant is not even locked, which its users would notice.
    return await openOwned(scopeSessions(store, options), options, agent, claim);
  } catch (error) {
    claim.release();
    throw error;
  }
}

async function openOwned(
  owned: SessionStore,
  options: OpenSessionOptions,
  agent: Agent,
  claim: AgentClaim,
): Promise<OpenedSession> {
  const { id } = options;
  if (id === undefined) return await createRecorded(owned, options, agent, claim);
  const found = await resumeExisting(owned, id);
  if (found) return await restoreInto(agent, found, options, claim);
  try {
    return await createRecorded(owned, options, agent, claim);
  } catch (error) {
    // Another process may have created and closed it meanwhile.
    const isTaken = error instanceof SessionError && error.reason === "already_exists";
    const created = isTaken ? await resumeExisting(owned, id) : undefined;
    if (!created) throw error;
    return await restoreInto(agent, created, options, claim);
  }
}

async function createRecorded(
  store: SessionStore,
  { now: _now, maxToolAttempts: _attempts, ...create }: OpenSessionOptions,
  agent: Agent,
  claim: AgentClaim,
): Promise<OpenedSession> {
  claim.checkConversation();
  const recording = await recordNew(agent, store, { ...create, claim });
  return complete(recording, {
    resumed: false,
    isInterrupted: false,
    missingTools: [],
    pendingApprovals: [],
    planMode: false,
  });
}

async function restoreInto(
  agent: Agent,
  resumed: ResumedSession,
  options: OpenSessionOptions,
  claim: AgentClaim,
): Promise<OpenedSession> {
  try {
    const recording = await resumed.into(agent, options);
    claim.release(); // The recording has its own.
    const { missingTools } = recording;
    const { isInterrupted, pendingApprovals, planMode, plan } = resumed;
    return complete(recording, {
      resumed: true,
      isInterrupted,
      missingTools,
      pendingApprovals,
      planMode,
      ...(plan && { plan }),
    });
  } catch (error) {
    await resumed.session.close();
    throw error;
  }
}

async function resumeExisting(
  store: SessionStore,
  id: string,
): Promise<ResumedSession | undefined> {
  try {
    return await resumeSession(store, id);
  } catch (error) {
    if (error instanceof SessionError && error.reason === "not_found") return undefined;
    throw error;
  }
}

function complete(
  recording: SessionRecording,
  state: Omit<OpenedSession, keyof SessionRecording | "id" | "close">,
): OpenedSession {
  const { id } = recording.session;
  return Object.assign(recording, { ...state, id, close: () => recording.stop() });
}
