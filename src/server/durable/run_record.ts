/**
 * The events that the run of a session publishes, from which every process knows what the session does.
 *
 * @module
 */

import type { PublishedEvent } from "../../core/durable/durable_engine.ts";
import type { AgentEvent, QueuedMessages } from "../../core/events/event.ts";
import type { UserMessage } from "../../core/messages/message.ts";
import type { SessionActivity } from "../../core/sessions/session_activity.ts";
import {
  type ApprovalNotice,
  listPendingApprovals,
} from "../../durable/engine/pending_approvals.ts";
import type { RunEnd } from "../runner/agent_runner.ts";

/** Position in the log of a session. */
interface LogPosition {
  /** Number of entries before it. */
  readonly position: number;
  /** Id of the last of them; empty at the beginning. */
  readonly entryId: string;
}

/** The first record of a run. */
export interface BeginRecord extends LogPosition {
  readonly type: "begin";
  /** Id of the session. */
  readonly sessionId: string;
  /** Id of the request that has started the run. */
  readonly startId: string;
  /** The prompt, without its content. */
  readonly prompt?: Pick<UserMessage, "metadata"> & { readonly id: string };
}

/** Published when the messages until now are in the log of the session. */
export interface SavedRecord extends LogPosition {
  readonly type: "saved";
  /** The queued messages. */
  readonly queued: QueuedMessages;
}

/** A record of a run. `finished` is the last one; the log is complete then. */
export type RunRecord =
  | BeginRecord
  | SavedRecord
  | { readonly type: "agent"; readonly event: AgentEvent }
  | ApprovalNotice
  | (RunEnd & { readonly type: "finished" });

/** A record and its number. */
export interface NumberedRecord {
  /** Number of the record in its run. */
  readonly number: number;
  /** The record; `continued` if another process continues the run. */
  readonly record: RunRecord | { readonly type: "continued" };
}

/** Returns the records of published events. */
export function toRecords(published: readonly PublishedEvent[]): readonly NumberedRecord[] {
  return published.map((item) => ({
    number: item.number,
    record: item.type === "event" ? item.event as unknown as RunRecord : { type: "continued" },
  }));
}

/** Follows the activity of a run. */
export class RunActivity {
  /** Id of the run. */
  readonly runId: string;
  readonly #notices: PublishedEvent[] = [];
  #queued: QueuedMessages = { steering: [], followUp: [] };

  constructor(runId: string) {
    this.runId = runId;
  }

  /** Applies a record, in order. */
  apply({ number, record }: NumberedRecord): void {
    switch (record.type) {
      case "saved":
        this.#queued = record.queued;
        return;
      case "agent":
        if (record.event.type === "queue_changed") this.#queued = record.event.queued;
        return;
      case "approval_awaited":
      case "approval_settled":
        this.#notices.push({ type: "event", number, event: record as never });
        return;
      case "begin":
      case "continued":
      case "finished":
        return;
    }
  }

  /** Returns the activity after the records until now. */
  get(): SessionActivity {
    const pendingApprovals = listPendingApprovals(this.#notices);
    return {
      status: pendingApprovals.length > 0 ? "awaiting_approval" : "running",
      runId: this.runId,
      pendingApprovals,
      queued: this.#queued,
    };
  }
}
