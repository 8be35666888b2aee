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
import { require } from "./event_violation.ts";

type CallState = "waiting" | "running" | "ended";

/** Follows the tool calls of one reply. */
export class ToolsGrammar {
  readonly #calls: readonly ToolCallBlock[];
  readonly #orders: ReadonlyMap<string, number>;
  readonly #states: CallState[];
  readonly #results: ToolResultMessage[] = [];
  #begun = 0;
  #ended = 0;
  #asked = -1;
  #question: string | undefined;
  /** The latest call that has begun since a call last ended. */
  #lastBegun = -1;

  /** Begins with the calls of a finished reply. */
  constructor(calls: readonly ToolCallBlock[]) {
    this.#calls = calls;
    this.#states = calls.map(() => "waiting");
    this.#orders = new Map(calls.map(({ id }, order) => [id, order]));
    require(
      this.#orders.size === calls.length && !this.#orders.has(""),
      "tool",
      "ids of calls must be unique and not empty",
    );
  }

  /** How many calls there are. */
  get count(): number {
    return this.#calls.length;
  }

  /** The results so far. */
  get results(): readonly ToolResultMessage[] {
    return this.#results;
  }

  /** Takes a question. */
  asked({ id, name }: ToolApprovalRequestedEvent): void {
    const order = this.#find(id, name);
    require(this.#begun === 0, "approval", "a call has begun already");
    require(
      this.#question === undefined,
      "approval",
      `call ${this.#question} is still being asked about`,
    );
    require(order > this.#asked, "approval", `call ${id} is asked about out of call order`);
    this.#asked = order;
    this.#question = id;
  }

  /** Takes an answer. */
  answered({ id }: ToolApprovalResolvedEvent): void {
    require(this.#question === id, "approval", `call ${id} has not been asked about`);
    this.#question = undefined;
  }

  /** Takes the beginning of a call: in call order, unless it had to wait until another call ended. */
  begun({ id, name }: ToolExecutionStartEvent): void {
    const order = this.#find(id, name);
    require(
      this.#question === undefined,
      "approval",
      `call ${this.#question} is still being asked about`,
    );
    require(this.#results.length === 0, "tool", "the results have begun already");
    require(this.#states[order] === "waiting", "tool", `call ${id} has begun before`);
    require(order > this.#lastBegun, "tool", `call ${id} begins out of call order`);
    this.#states[order] = "running";
    this.#begun++;
    this.#lastBegun = order;
  }

  /** Takes a partial result. */
  updated({ id }: ToolExecutionUpdateEvent): void {
    require(this.#states[this.#find(id)] === "running", "tool", `call ${id} is not running`);
  }

  /** Takes the end of a call. */
  ended({ id, name }: ToolExecutionEndEvent): void {
    const order = this.#find(id, name);
    require(this.#states[order] === "running", "tool", `call ${id} is not running`);
    this.#states[order] = "ended";
    this.#ended++;
    this.#lastBegun = -1;
  }

  /** Takes the beginning of a result's message. */
  resultBegun(message: ToolResultMessage): void {
    this.#requireAllEnded();
    const call = this.#calls[this.#results.length];
    require(call !== undefined, "result", "every call has its result already");
    require(
      message.toolCallId === call.id && message.toolName === call.name,
      "result",
      `the result of call ${call.id} (${call.name}) is next`,
    );
    this.#results.push(message);
  }

  /** Takes the end of the turn. */
  end(): void {
    require(
      this.#question === undefined,
      "approval",
      `call ${this.#question} is still being asked about`,
    );
    this.#requireAllEnded();
    const missing = this.#calls[this.#results.length];
    require(missing === undefined, "result", `call ${missing?.id} has no result`);
  }

  #requireAllEnded(): void {
    if (this.#ended === this.#calls.length) return;
    const order = this.#states.findIndex((state) => state !== "ended");
    require(false, "tool", `call ${this.#calls[order]?.id} has not ended`);
  }

  #find(id: string, name?: string): number {
    const order = this.#orders.get(id);
    require(order !== undefined, "tool", `the reply has no call ${id}`);
    const called = this.#calls[order]?.name;
    require(
      name === undefined || name === called,
      "tool",
      `call ${id} is of ${called}, not of ${name}`,
    );
    return order;
  }
}
