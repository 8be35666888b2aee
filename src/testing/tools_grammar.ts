/**
 * What is legal while the calls of a reply are asked about, run and answered.
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

/** Follows the tool calls of one reply. */
export class ToolsGrammar {
  readonly #calls: readonly ToolCallBlock[];
  readonly #orderById: ReadonlyMap<string, number>;
  readonly #states: CallState[];
  readonly #results: ToolResultMessage[] = [];
  #startedCount = 0;
  #endedCount = 0;
  #lastRequested = -1;
  #pendingApproval: string | undefined;
  /** The latest call that has begun since a call last ended. */
  #lastStarted = -1;

  /** Begins with the calls of a finished reply. */
  constructor(calls: readonly ToolCallBlock[]) {
    this.#calls = calls;
    this.#states = calls.map(() => "waiting");
    this.#orderById = new Map(calls.map(({ id }, order) => [id, order]));
    assertRule(
      this.#orderById.size === calls.length && !this.#orderById.has(""),
      "tool",
      "ids of calls must be unique and not empty",
    );
  }

  /** How many calls there are. */
  get size(): number {
    return this.#calls.length;
  }

  /** The results so far. */
  get results(): readonly ToolResultMessage[] {
    return this.#results;
  }

  /** Takes a question. */
  acceptApprovalRequest({ id, name }: ToolApprovalRequestedEvent): void {
    const order = this.#findOrder(id, name);
    assertRule(this.#startedCount === 0, "approval", "a call has begun already");
    assertRule(
      this.#pendingApproval === undefined,
      "approval",
      `call ${this.#pendingApproval} is still being asked about`,
    );
    assertRule(
      order > this.#lastRequested,
      "approval",
      `call ${id} is asked about out of call order`,
    );
    this.#lastRequested = order;
    this.#pendingApproval = id;
  }

  /** Takes an answer. */
  acceptApprovalDecision({ id }: ToolApprovalResolvedEvent): void {
    assertRule(this.#pendingApproval === id, "approval", `call ${id} has not been asked about`);
    this.#pendingApproval = undefined;
  }

  /** Takes the beginning of a call: in call order, unless it had to wait until another call ended. */
  acceptStart({ id, name }: ToolExecutionStartEvent): void {
    const order = this.#findOrder(id, name);
    assertRule(
      this.#pendingApproval === undefined,
      "approval",
      `call ${this.#pendingApproval} is still being asked about`,
    );
    assertRule(this.#results.length === 0, "tool", "the results have begun already");
    assertRule(this.#states[order] === "waiting", "tool", `call ${id} has begun before`);
    assertRule(order > this.#lastStarted, "tool", `call ${id} begins out of call order`);
    this.#states[order] = "running";
    this.#startedCount++;
    this.#lastStarted = order;
  }

  /** Takes a partial result. */
  acceptUpdate({ id }: ToolExecutionUpdateEvent): void {
    assertRule(
      this.#states[this.#findOrder(id)] === "running",
      "tool",
      `call ${id} is not running`,
    );
  }

  /** Takes the end of a call. */
  acceptEnd({ id, name }: ToolExecutionEndEvent): void {
    const order = this.#findOrder(id, name);
    assertRule(this.#states[order] === "running", "tool", `call ${id} is not running`);
    this.#states[order] = "ended";
    this.#endedCount++;
    this.#lastStarted = -1;
  }

  /** Takes the beginning of a result's message. */
  acceptResult(message: ToolResultMessage): void {
    this.#assertAllEnded();
    const call = this.#calls[this.#results.length];
    assertRule(call !== undefined, "result", "every call has its result already");
    assertRule(
      message.toolCallId === call.id && message.toolName === call.name,
      "result",
      `the result of call ${call.id} (${call.name}) is next`,
    );
    this.#results.push(message);
  }

  /** Takes the end of the turn. */
  acceptTurnEnd(): void {
    assertRule(
      this.#pendingApproval === undefined,
      "approval",
      `call ${this.#pendingApproval} is still being asked about`,
    );
    this.#assertAllEnded();
    const missing = this.#calls[this.#results.length];
    assertRule(missing === undefined, "result", `call ${missing?.id} has no result`);
  }

  #assertAllEnded(): void {
    if (this.#endedCount === this.#calls.length) return;
    const order = this.#states.findIndex((state) => state !== "ended");
    assertRule(false, "tool", `call ${this.#calls[order]?.id} has not ended`);
  }

  #findOrder(id: string, name?: string): number {
    const order = this.#orderById.get(id);
    assertRule(order !== undefined, "tool", `the reply has no call ${id}`);
    const called = this.#calls[order]?.name;
    assertRule(
      name === undefined || name === called,
      "tool",
      `call ${id} is of ${called}, not of ${name}`,
    );
    return order;
  }
}
