/**
 * Checks the approvals, executions and results of tool calls.
 *
 * @module
 */

import type { ToolCallBlock } from "../core/content.ts";
import type {
  ToolApprovalRequestedEvent,
  ToolApprovalResolvedEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
} from "../core/event.ts";
import type { ToolResultMessage } from "../core/message.ts";
import { assertRule } from "./event_violation.ts";

type CallState = "waiting" | "running" | "ended";

/** Checks the tool calls of one reply. */
export class ToolsGrammar {
  readonly #calls: readonly ToolCallBlock[];
  readonly #indexById: ReadonlyMap<string, number>;
  readonly #states: CallState[];
  readonly #results: ToolResultMessage[] = [];
  #startedCount = 0;
  #endedCount = 0;
  #lastRequested = -1;
  #pendingApproval: string | undefined;
  /** Index of the last call that started since a call ended. */
  #lastStarted = -1;

  constructor(calls: readonly ToolCallBlock[]) {
    this.#calls = calls;
    this.#states = calls.map(() => "waiting");
    this.#indexById = new Map(calls.map(({ id }, index) => [id, index]));
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

  /** Checks the request of an approval: before any call starts, and in call order. */
  acceptApprovalRequest({ id, name }: ToolApprovalRequestedEvent): void {
    const index = this.#findIndex(id, name);
    assertRule(this.#startedCount === 0, "approval", "a call has already started");
    this.#assertNoPendingApproval();
    assertRule(
      index > this.#lastRequested,
      "approval",
      `the approval of call ${id} is out of call order`,
    );
    this.#lastRequested = index;
    this.#pendingApproval = id;
  }

  /** Checks the decision on the pending approval. */
  acceptApprovalDecision({ id }: ToolApprovalResolvedEvent): void {
    assertRule(this.#pendingApproval === id, "approval", `call ${id} has no pending approval`);
    this.#pendingApproval = undefined;
  }

  /** Checks the start of a call: in call order, unless it waited for another call to end. */
  acceptStart({ id, name }: ToolExecutionStartEvent): void {
    const index = this.#findIndex(id, name);
    this.#assertNoPendingApproval();
    assertRule(this.#results.length === 0, "tool", "the results have already started");
    assertRule(this.#states[index] === "waiting", "tool", `call ${id} has already started`);
    assertRule(index > this.#lastStarted, "tool", `call ${id} starts out of call order`);
    this.#states[index] = "running";
    this.#startedCount++;
    this.#lastStarted = index;
  }

  /** Checks that the updated call is running. */
  acceptUpdate({ id }: ToolExecutionUpdateEvent): void {
    assertRule(
      this.#states[this.#findIndex(id)] === "running",
      "tool",
      `call ${id} is not running`,
    );
  }

  /** Checks the end of a call. */
  acceptEnd({ id, name }: ToolExecutionEndEvent): void {
    const index = this.#findIndex(id, name);
    assertRule(this.#states[index] === "running", "tool", `call ${id} is not running`);
    this.#states[index] = "ended";
    this.#endedCount++;
    this.#lastStarted = -1;
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

  /** Checks that every call has its result. */
  acceptTurnEnd(): void {
    this.#assertNoPendingApproval();
    this.#assertAllEnded();
    const missing = this.#calls[this.#results.length];
    assertRule(missing === undefined, "result", `call ${missing?.id} has no result`);
  }

  #assertNoPendingApproval(): void {
    const id = this.#pendingApproval;
    assertRule(id === undefined, "approval", `the approval of call ${id} is pending`);
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
