/**
 * The session of a run, in which the agents that its tools start get sessions of their own.
 *
 * @module
 */

import type { Cost, Usage } from "../models/usage.ts";

/**
 * How a sub-agent works: while its tool call waits, after its call until the run ends, or also after the end of the run.
 */
export type SubAgentMode = "foreground" | "background" | "detached";

/** How a sub-agent ended. `interrupted`: its process ended first. */
export type SubAgentStatus = "completed" | "failed" | "aborted" | "interrupted";

/** The worktree of a sub-agent. */
export interface SubAgentWorktree {
  /** Absolute path of the directory. */
  readonly directory: string;
  /** Name of the branch. */
  readonly branch: string;
}

/** The start of a sub-agent. */
export interface SubAgentStart {
  /** Name of the kind of sub-agent, such as that of its tool. */
  readonly name: string;
  /** Its prompt. */
  readonly prompt: string;
  /** Id of the tool call that starts it. */
  readonly toolCallId: string;
  /** How it works. Default: `"foreground"`. */
  readonly mode?: SubAgentMode | undefined;
  /** Its worktree. Default: none. */
  readonly worktree?: SubAgentWorktree | undefined;
  /** Cancels it, if it is detached. Default: it cannot be cancelled. */
  readonly cancel?: ((reason?: unknown) => void) | undefined;
}

/** The end of a sub-agent. */
export interface SubAgentOutcome {
  /** How it ended. */
  readonly status: SubAgentStatus;
  /** Its report, or the reason why there is none. */
  readonly result: string;
  /** Token counts. */
  readonly usage?: Usage | undefined;
  /** Cost. */
  readonly cost?: Cost | undefined;
}

/** The session of a sub-agent, which is recorded until it ends. */
export interface SubAgentSession {
  /** Id of the session of the sub-agent. */
  readonly sessionId: string;
  /** Records the end of the sub-agent, and closes its session. The report of one that its call did not
   * wait for is queued for the agent that started it. Never rejects. */
  readonly end: (outcome: SubAgentOutcome) => Promise<void>;
}

/** The session of a run. */
export interface RunSession {
  /** Id of the session. */
  readonly id: string;
  /**
   * Records an agent, before its first run, into a session of its own that names this one as its parent. Entries
   * `sub_agent_spawned` and `sub_agent_result` of this session name it.
   *
   * @throws {SessionError} If one of the sessions cannot be written.
   */
  readonly startSubAgent: (agent: object, start: SubAgentStart) => Promise<SubAgentSession>;
}

/** The sessions of agents that are recorded, by the state of the agent. */
export const runSessions: WeakMap<object, RunSession> = new WeakMap();
