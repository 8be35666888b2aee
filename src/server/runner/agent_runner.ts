/**
 * The port behind which agents run.
 *
 * @module
 */

import type { AgentResult } from "../../agent/agent_result.ts";
import type { ApprovalDecisions } from "../../core/approval/approval.ts";
import type { Policy } from "../../core/hooks/policy.ts";
import type { UserMessage } from "../../core/messages/message.ts";
import type { SessionSummary } from "../../core/sessions/session.ts";
import type { SessionActivity } from "../../core/sessions/session_activity.ts";

/** A session, and the caller's part of the store in which it must be. */
export interface SessionKey {
  /** Id of the session. */
  readonly id: string;
  /** The tenant. Default: any. */
  readonly tenant?: string | undefined;
  /** The user. Default: any. */
  readonly user?: string | undefined;
}

/** The beginning of a run. */
export type RunInput =
  | {
    readonly type: "prompt";
    /** The prompt. Its metadata may have an `idempotencyKey`, and a `requestHash` that belongs to it. */
    readonly message: UserMessage & { readonly id: string };
  }
  | { readonly type: "continue" }
  | {
    readonly type: "approvals";
    /** The decision on each pending call, by its id. */
    readonly decisions: ApprovalDecisions;
  };

/** Options for {@linkcode AgentRunner.start}. */
export interface StartOptions {
  /** Policies in addition to those of the agent. */
  readonly policies: readonly Policy[];
}

/** The end of a run. */
export type RunEnd = Pick<AgentResult, "stopReason" | "usage" | "cost">;

/**
 * Result of {@linkcode AgentRunner.start}. `resumed`: the active run has got the decisions. `repeated`: the session has
 * a prompt with the same key and the same hash, and no run was started. `key_reused`: it has one with the same key and
 * another hash.
 */
export type RunStart =
  | {
    readonly type: "started";
    /** Id of the run. */
    readonly runId: string;
    /** The position before the first event of the run. */
    readonly eventId: string;
    /** Resolves when the run has ended and its session is closed. Never rejects. */
    readonly ended: Promise<RunEnd>;
  }
  | {
    readonly type: "resumed";
    /** Id of the active run. */
    readonly runId: string;
    /** The position before the decisions have an effect. */
    readonly eventId: string;
  }
  | { readonly type: "repeated"; readonly messageId: string; readonly eventId: string }
  | { readonly type: "key_reused" };

/** A message for the active run. */
export interface QueuedInput {
  /** When the model reads the message: with its next call, or when the run would otherwise end. */
  readonly type: "steer" | "follow_up";
  /** The message. */
  readonly message: UserMessage;
}

/** A session as clients see it. */
export interface SessionDetail extends SessionActivity {
  /** The summary. */
  readonly summary: SessionSummary;
  /** The position after its last event. */
  readonly eventId: string;
}

/** One server-sent event of a session. */
export interface FeedItem {
  /**
   * Type of the event: `entry` for an entry of the session's log, `state` for a {@linkcode SessionActivity}, `reset` if
   * the position is not in the log, so that all events follow, `end` before the stream ends, and the type of an event of
   * the agent for that.
   */
  readonly type: string;
  /** The position after the event. Default: that of the event before. */
  readonly id?: string;
  /** The JSON of the event. */
  readonly data: string;
}

/** Options for {@linkcode AgentRunner.events}. */
export interface EventsOptions {
  /** The position after which the events begin. Default: the beginning of the session. */
  readonly after?: string | undefined;
  /** Ends the events at once. */
  readonly signal: AbortSignal;
  /** Ends the events as soon as all until then are delivered. */
  readonly ending: AbortSignal;
}

/** Options for {@linkcode AgentRunner.close}. */
export interface CloseOptions {
  /** Aborted when runs that are still active have to stop. */
  readonly signal: AbortSignal;
}

/** The outcome for the runs that were active when a runner was closed. */
export interface CloseReport {
  /** Number of runs that ended by themselves. */
  readonly ended: number;
  /** Number of runs that were stopped, and can be continued by another process. */
  readonly handedOver: number;
}

/**
 * Runs the agents of sessions. All methods reject with an `AgentError`: with a `SessionError` and the reason `not_found`
 * for a session that does not exist or is not in the caller's part of the store, and with the reason `locked` for one in
 * which another process works.
 */
export interface AgentRunner {
  /**
   * Starts a run; resolves when its prompt is persisted. Rejects with an `AlreadyRunningError` if one is active, and with
   * an `InvalidContinueError` or a `BadRequestError` if the session cannot be continued in this way.
   */
  start(session: SessionKey, input: RunInput, options: StartOptions): Promise<RunStart>;
  /**
   * Queues a message for the active run; resolves to its id when it is persisted, or to `undefined` if no run is active in
   * this process.
   */
  send(session: SessionKey, input: QueuedInput): Promise<string | undefined>;
  /** Aborts the active run; resolves to `false` if none is active in this process. */
  abort(session: SessionKey, reason: string): Promise<boolean>;
  /** Describes a session. */
  describe(session: SessionKey): Promise<SessionDetail>;
  /** Whether a run of a session is active in this process. */
  isRunning(sessionId: string): boolean;
  /**
   * Resolves to the events of a session in batches, until the session is deleted or a signal aborts: those after a
   * position, each once and in order, and then new ones. The events of a log are complete; those that are not in the log
   * end with the process, and a `state` follows where some are missing. Rejects with a `BadRequestError` if the position
   * is malformed.
   */
  events(session: SessionKey, options: EventsOptions): Promise<AsyncIterable<readonly FeedItem[]>>;
  /** Deletes a session. Rejects with an `AlreadyRunningError` while a run is active. */
  delete(session: SessionKey): Promise<void>;
  /** Ends all runs; no further one may be started. */
  close(options: CloseOptions): Promise<CloseReport>;
}
