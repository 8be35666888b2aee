/**
 * The decisions about tool calls that a program makes.
 *
 * @module
 */

import type { AgentEvent, ApprovalDecision } from "../../mod.ts";

interface WaitingCall extends PromiseWithResolvers<ApprovalDecision> {
  isAnswered: boolean;
}

/** A call that requires a decision. */
interface AskedCall {
  readonly toolCallId: string;
  readonly name: string;
  /** Denies the call. */
  readonly signal: AbortSignal;
}

/** The tool calls that wait for a decision. */
export class WaitingAnswers {
  readonly #calls = new Map<string, WaitingCall>();
  readonly #refused = new Set<string>();
  #isClosed = false;

  /** Follows the calls of a run: the decision about one may arrive before its question does. */
  onEvent(event: AgentEvent): void {
    if (event.type === "tool_approval_requested") this.#expect(event.id);
    if (event.type === "tool_approval_resolved") this.#calls.delete(event.id);
    if (event.type === "agent_end") this.#calls.clear();
  }

  /** Decides about a call. Returns whether it waits for a decision. */
  answer(toolCallId: string, decision: ApprovalDecision): boolean {
    const call = this.#calls.get(toolCallId);
    if (!call || call.isAnswered) return false;
    call.isAnswered = true;
    call.resolve(decision);
    return true;
  }

  /** Waits for the decision about a call. It is denied if the run or the input ends first. */
  async ask({ toolCallId, name, signal }: AskedCall): Promise<ApprovalDecision> {
    const { promise, resolve } = this.#expect(toolCallId);
    const deny = () => resolve(NO_DECISION);
    if (this.#isClosed || signal.aborted) deny();
    else signal.addEventListener("abort", deny, { once: true });
    const decision = await promise;
    if (decision === NO_DECISION && !signal.aborted) this.#refused.add(name);
    return decision;
  }

  /** Returns and forgets the names of the tools that were denied because the input had ended. */
  takeRefused(): readonly string[] {
    const names = [...this.#refused];
    this.#refused.clear();
    return names;
  }

  /** Denies all calls without a decision, and those that follow. */
  close(): void {
    this.#isClosed = true;
    for (const { resolve } of this.#calls.values()) resolve(NO_DECISION);
  }

  #expect(toolCallId: string): WaitingCall {
    const call = this.#calls.get(toolCallId) ??
      { ...Promise.withResolvers<ApprovalDecision>(), isAnswered: false };
    this.#calls.set(toolCallId, call);
    return call;
  }
}

const NO_DECISION: ApprovalDecision = {
  type: "denied",
  reason: "it requires approval, and the input ended without a decision",
  origin: "mode",
};
