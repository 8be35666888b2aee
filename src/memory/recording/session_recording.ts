/**
 * The recording of an agent into a session, and its options.
 *
 * @module
 */

import type { SessionError } from "../../core/errors/errors.ts";
import type { CreateSessionOptions, Session } from "../../core/sessions/session.ts";
import type { AgentHookOptions } from "./agent_hooks.ts";
import type { DetachedAgent } from "./sub_agent_sessions.ts";

/** Options for `recordSession()`; those for a new session are ignored if there is an open one. */
export interface RecordSessionOptions
  extends
    AgentHookOptions,
    Pick<CreateSessionOptions, "id" | "cwd" | "tenant" | "user" | "metadata"> {
  /** An open session to continue. Default: a new one. */
  readonly session?: Session | undefined;
  /**
   * Called when the session cannot be written, after the run was aborted. What it throws is ignored: the run has the error
   * as its `abortReason`. Default: none.
   */
  readonly onError?: ((error: SessionError) => void) | undefined;
}

/** The recording of an agent. */
export interface SessionRecording extends AsyncDisposable {
  /** The session. The host appends its own entries (a title, a plan, a label) directly. */
  readonly session: Session;
  /** The detached sub-agents that work. */
  readonly detachedAgents: readonly DetachedAgent[];
  /**
   * Moves the leaf to an entry, and sets the agent's history to the messages up to it; `null` clears it. Plan and
   * compaction become those of the entry. The settings stay: model, tools, queues, approval mode, grants and plan mode.
   *
   * @throws {AlreadyRunningError} While a run is active.
   */
  rewind(entryId: string | null): Promise<void>;
  /**
   * Records the messages that were appended to the agent's history since the last run, and resolves when all entries so
   * far are persisted. If they cannot be, the run is aborted as by any other write that
   * fails; `session.flush()` would take the error away from the recording. It then rejects until the next run starts.
   */
  flush(): Promise<void>;
  /**
   * Stops recording and closes the session. A run that is active continues without being recorded; after a run, the
   * sessions of its sub-agents, and of cancelled ones, are closed, too.
   *
   * @throws {SessionError} If entries of the last run could not be persisted, as `flush()` does; the session is closed.
   */
  stop(): Promise<void>;
}
