/**
 * Checks the approvals, executions and results of tool calls.
 *
 * @module
 */

import type { PendingApproval } from "../core/approval/approval.ts";
import type {
  ToolApprovalRequestedEvent,
  ToolApprovalResolvedEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
  TurnEndReason,
} from "../core/events/event.ts";
import type { ToolCallBlock } from "../core/messages/content.ts";
import type { ToolResultMessage } from "../core/messages/message.ts";
import { ApprovalGrammar, type ResumedReply } from "./approval_grammar.ts";
import { assertRule } from "./event_violation.ts";

/** An event of the tool calls of a reply. */
export type BatchEvent =
  | ToolApprovalRequestedEvent
  | ToolApprovalResolvedEvent
  | ToolExecutionStartEvent
  | ToolExecutionUpdateEvent
  | ToolExecutionEndEvent;

type CallState = "waiting" | "running" | "ended";

/** Checks the tool calls of one reply. */
export class ToolsGrammar {
  readonly #calls: readonly ToolCallBlock[];
  readonly #indexById: ReadonlyMap<string, number>;
  readonly #states: CallState[];
  readonly #approvals: ApprovalGrammar;
  readonly #results: ToolResultMessage[] = [];
  #startedCount = 0;
  #endedCount = 0;
  /** Index of the last call that started since a call ended. */
  #lastStarted = -1;

  /** Creates the grammar of the calls; `resumed` if their approvals were requested in an earlier run. */
  constructor(calls: readonly ToolCallBlock[], resumed?: ResumedReply) {
    this.#calls = calls;
    this.#states = calls.map(() => "waiting");
    this.#indexById = new Map(calls.map(({ id }, index) => [id, index]));
    this.#approvals = new ApprovalGrammar(resumed);
    assertRule(
      this.#indexById.size === calls.length && !this.#indexById.has(""),
      "tool",
      "call ids must be unique and not empty",
    );
  }

  /** The number of calls. */
  get size(): number {
    return this.#calls.length;
  }

  /** The results so far, in call order. */
  get results(): readonly ToolResultMessage[] {
    return this.#results;
  }

  /** The approvals that were requested and have no decision, in call order. */
  get pendingApprovals(): readonly PendingApproval[] {
    return this.#approvals.pending;
  }

  /** Checks the next event. */
  accept(event: BatchEvent): void {
    switch (event.type) {
      case "tool_approval_requested":
        this.#assertNotStarted();
        return this.#approvals.acceptRequest(event, this.#findIndex(event.id, event.name));
      case "tool_approval_resolved":
        this.#assertNotStarted();
        return this.#approvals.acceptDecision(event, this.#findIndex(event.id));
      case "tool_execution_start":
        return this.#acceptStart(event);
      case "tool_execution_update":
        return this.#assertRunning(event.id);
      case "tool_execution_end":
        return this.#acceptEnd(event);
    }
  }

  /** Checks the start of a result message. */
  acceptResult(message: ToolResultMessage): void {
    this.#assertAllEnded();
    const call = this.#calls[this.#results.length];
    assertRule(call !== undefined, "result", "every call already has a result");
    assertRule(
      message.toolCallId === call.id && message.toolName === call.name,
      "result",
      `expected the result of call ${call.id} (${call.name})`,
    );
    this.#results.push(message);
  }

  /** Checks that every call has its result, or that no call ran because of pending approvals. */
  acceptTurnEnd(reason: TurnEndReason): void {
    if (reason === "approval_pending") {
      this.#assertNotStarted();
      return this.#approvals.assertPending();
    }
    this.#assertAllEnded();
    const missing = this.#calls[this.#results.length];
    assertRule(missing === undefined, "result", `call ${missing?.id} has no result`);
  }

  /** Checks the start of a call: in call order, unless it waited for another call to end. */
  #acceptStart({ id, name }: ToolExecutionStartEvent): void {
    const index = this.#findIndex(id, name);
    assertRule(this.#results.length === 0, "tool", "the results have already started");
    assertRule(this.#states[index] === "waiting", "tool", `call ${id} has already started`);
    assertRule(index > this.#lastStarted, "tool", `call ${id} starts out of call order`);
    this.#states[index] = "running";
    this.#startedCount++;
    this.#lastStarted = index;
  }

  /** Checks the end of a call, which must have failed if it could not be approved. */
  #acceptEnd({ id, name, isError }: ToolExecutionEndEvent): void {
    const index = this.#findIndex(id, name);
    this.#assertRunning(id);
    if (!isError) this.#approvals.assertApproved(id);
    this.#states[index] = "ended";
    this.#endedCount++;
    this.#lastStarted = -1;
  }

  #assertRunning(id: string): void {
    const state = this.#states[this.#findIndex(id)];
    assertRule(state === "running", "tool", `call ${id} is not running`);
  }

  #assertNotStarted(): void {
    assertRule(this.#startedCount === 0, "approval", "a call has already started");
  }

  #assertAllEnded(): void {
    if (this.#endedCount === this.#calls.length) return;
    const index = this.#states.findIndex((state) => state !== "ended");
    assertRule(false, "tool", `call ${this.#calls[index]?.id} has not ended`);
  }

  #findIndex(id: string, name?: string): number {
    const index = this.#indexById.get(id);
    assertRule(index !== undefined, "tool", `the reply has no call ${id}`);
    const called = this.#calls[index]?.name;
    assertRule(
      name === undefined || name === called,
      "tool",
      `call ${id} calls ${called}, not ${name}`,
    );
    return index;
  }
}
