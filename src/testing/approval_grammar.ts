/**
 * Checks the approvals of tool calls.
 *
 * @module
 */

import type { PendingApproval } from "../core/approval/approval.ts";
import type {
  ToolApprovalRequestedEvent,
  ToolApprovalResolvedEvent,
} from "../core/events/event.ts";
import { assertRule } from "./event_violation.ts";

/** A reply whose calls run in a later run than the one that requested their approvals. */
export interface ResumedReply {
  /** The approvals that were pending. Default: unknown. */
  readonly approvals?: readonly PendingApproval[] | undefined;
}

/** Checks the approvals of the calls of one reply: requests in call order, each followed by its decision if it has one. */
export class ApprovalGrammar {
  readonly #resumed: ResumedReply | undefined;
  readonly #pending = new Map<string, PendingApproval>();
  readonly #denied = new Set<string>();
  readonly #requested = new Set<string>();
  #lastIndex = -1;

  /** Creates the grammar of a reply; `resumed` if its approvals were requested in an earlier run. */
  constructor(resumed: ResumedReply | undefined) {
    this.#resumed = resumed;
    for (const approval of resumed?.approvals ?? []) {
      this.#pending.set(approval.toolCallId, approval);
    }
  }

  /** The approvals that were requested and have no decision, in call order. */
  get pending(): readonly PendingApproval[] {
    return [...this.#pending.values()];
  }

  /** Whether the approvals of an earlier run are known. */
  get #isKnown(): boolean {
    return this.#resumed?.approvals !== undefined;
  }

  /** Checks the request for the approval of a call, given its index. */
  acceptRequest(
    { id: toolCallId, name, arguments: args }: ToolApprovalRequestedEvent,
    index: number,
  ): void {
    // The calls of an unknown run may have been interrupted, and then need an approval.
    assertRule(!this.#isKnown, "approval", "approvals of an earlier run are not requested again");
    // In a resumed reply they follow the decisions.
    if (this.#resumed && this.#requested.size === 0) this.#lastIndex = -1;
    this.#requested.add(toolCallId);
    this.#advanceTo(index, toolCallId);
    this.#pending.set(toolCallId, { toolCallId, name, arguments: args });
  }

  /** Checks the decision on a call, given its index: that of the last request, or of an earlier run. */
  acceptDecision({ id, decision }: ToolApprovalResolvedEvent, index: number): void {
    if (this.#resumed && !this.#requested.has(id)) this.#advanceTo(index, id);
    const isPending = this.#pending.delete(id) && index === this.#lastIndex;
    const isUnknown = this.#resumed !== undefined && this.#resumed.approvals === undefined;
    assertRule(isPending || isUnknown, "approval", `call ${id} has no pending approval`);
    if (decision.type === "denied") this.#denied.add(id);
  }

  /** Checks that a call may run: it was not denied, and no approval of its reply is pending. */
  assertApproved(id: string): void {
    assertRule(!this.#denied.has(id), "approval", `call ${id} ran although it was denied`);
    assertRule(
      this.#pending.size === 0,
      "approval",
      `call ${id} ran although an approval is pending`,
    );
  }

  /** Checks that the turn may end because an approval is pending. */
  assertPending(): void {
    const isPending = !this.#isKnown && this.#pending.size > 0;
    assertRule(isPending, "approval", "no approval is pending");
  }

  #advanceTo(index: number, id: string): void {
    const isNext = index > this.#lastIndex;
    assertRule(isNext, "approval", `the approval of call ${id} is out of call order`);
    this.#lastIndex = index;
  }
}
