/**
 * The entries about approvals: the decisions, and the state of the gate.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { ApprovalGateState } from "../../core/approval/approval.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import type { Session } from "../../core/sessions/session.ts";
import { findCallName } from "./call_entries.ts";
import type { LoggedPath } from "./logged_path.ts";

type RequestedEvent = Extract<AgentEvent, { readonly type: "tool_approval_requested" }>;
type ResolvedEvent = Extract<AgentEvent, { readonly type: "tool_approval_resolved" }>;

/** Options for `new ApprovalEntries()`. */
export interface ApprovalEntriesOptions {
  /** The agent whose calls are decided. */
  readonly agent: Agent;
  /** The session that gets the entries. */
  readonly session: Session;
  /** The settings that are recorded. */
  readonly path: LoggedPath;
  /** The gate; `undefined` if the agent has none. */
  readonly gate: ApprovalGateState | undefined;
}

/** Records the approvals of an agent. */
export class ApprovalEntries {
  readonly #options: ApprovalEntriesOptions;
  /** Names of the tools of the calls that wait for a decision, by their ids. */
  readonly #requested = new Map<string, string>();

  /** Creates it. */
  constructor(options: ApprovalEntriesOptions) {
    this.#options = options;
  }

  /** Keeps the name of the tool until the decision, which does not have it. */
  onRequested({ id, name }: RequestedEvent): void {
    this.#requested.set(id, name);
  }

  /** Records a decision, which may have changed the gate. */
  recordDecision({ id, decision }: ResolvedEvent): void {
    const { agent, session } = this.#options;
    // The approval may have been requested in an earlier run, perhaps of another process.
    const name = this.#requested.get(id) ?? findCallName(agent.state.messages, id);
    this.#requested.delete(id);
    session.append({ type: "approval", toolCallId: id, name, decision });
    this.recordGate();
  }

  /** Records the state of the gate if it has changed. */
  recordGate(): void {
    const { gate, path } = this.#options;
    if (!gate) return;
    const { mode, trusted: grants } = gate;
    const type = "grants_changed";
    path.recordSetting({ type: "approval_mode", mode });
    path.recordSetting({ type, grants }, { type, grants: [] });
  }
}
