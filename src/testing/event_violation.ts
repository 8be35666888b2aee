/**
 * Violations of the event order.
 *
 * @module
 */

import type { AgentEvent } from "../core/events/event.ts";

/** A rule of the event order. */
export type EventRule =
  /** The events of a run lie between its `agent_start` and `agent_end`; runs do not overlap. */
  | "run"
  /** The `seq` of a run's events is 1, 2, 3 …; events between runs have none. */
  | "number"
  /** Turns are numbered 1, 2, 3 …, do not overlap, and end with one that failed, was aborted or waits for approvals. */
  | "turn"
  /**
   * Each message has an id of its own, and starts and ends, one at a time, with the same content in both events. None lies
   * between tool calls and their results.
   */
  | "message"
  /**
   * A turn has one reply, which starts empty. Its model calls are numbered 1, 2, 3 … and all but the last one fail; their
   * deltas, unless they are discarded, add up to its content.
   */
  | "reply"
  /**
   * Approvals are requested before any call starts, in call order. A decision follows its request, or comes in a later
   * run; until then no call of the reply runs. A denied call does not run.
   */
  | "approval"
  /** Each call of the reply starts and ends once; its updates and the events of its agents lie in between. */
  | "tool"
  /** Each call has one result message, in call order, after all calls have ended. */
  | "result"
  /** `turn_end` and `agent_end` repeat the messages, approvals and stop reasons of the events before them. */
  | "summary";

/** The first event of a sequence that breaks a rule. */
export interface EventViolation {
  /** The broken rule. */
  readonly rule: EventRule;
  /** Explanation, such as `turn 1 is next`. */
  readonly message: string;
  /** Index in the sequence; its length if it ended too early. */
  readonly position: number;
  /** Missing if the sequence ended too early. */
  readonly event?: AgentEvent;
}

/** Thrown when a sequence of events breaks a rule. */
export class EventOrderError extends Error {
  /** The violation. */
  readonly violation: EventViolation;

  constructor(violation: EventViolation) {
    const { position, event, message } = violation ?? {};
    super(`Illegal event ${position} (${event?.type ?? "end of events"}): ${message}`);
    this.name = "EventOrderError";
    this.violation = violation;
  }
}

/** A broken rule, thrown by `assertRule()`; the grammar adds the event and its position. */
export class RuleViolation {
  readonly rule: EventRule;
  readonly message: string;

  constructor(rule: EventRule, message: string) {
    this.rule = rule;
    this.message = message;
  }
}

/** Throws a {@linkcode RuleViolation} if the condition is false. */
export function assertRule(
  condition: boolean,
  rule: EventRule,
  message: string,
): asserts condition {
  if (!condition) throw new RuleViolation(rule, message);
}
