/**
 * How a broken event order is told.
 *
 * @module
 */

import type { AgentEvent } from "../core/event.ts";

/** Which rule of the event order an event can break. */
export type EventRule =
  /** Events of a run stand between its `agent_start` and its `agent_end`; runs do not overlap. */
  | "run"
  /** Events of a run are numbered 1, 2, 3 …; those between runs have no number. */
  | "number"
  /** Turns are numbered 1, 2, 3 …, do not overlap, and none follows one that failed or was aborted. */
  | "turn"
  /** Each message is begun and ended, one at a time, and says the same at both ends. */
  | "message"
  /** A turn has one reply. It begins empty, and its deltas add up to what it says in the end. */
  | "reply"
  /** Questions come before any call begins, one at a time, in call order, each with its answer. */
  | "approval"
  /** Each call of the reply begins and ends once. */
  | "tool"
  /** Each call has one result as a message, after all calls have ended, in call order. */
  | "result"
  /** What `turn_end` and `agent_end` sum up is what was told before. */
  | "summary";

/** The first event of a sequence that is not legal where it stands. */
export interface EventViolation {
  /** The rule that is broken. */
  readonly rule: EventRule;
  /** What is wrong, in words. */
  readonly message: string;
  /** Position in the sequence, from 0; the sequence's length when it ended too early. */
  readonly position: number;
  /** The event; missing when the sequence ended too early. */
  readonly event?: AgentEvent;
}

/** A sequence of events is not legal. */
export class EventOrderError extends Error {
  /** Where and how. */
  readonly violation: EventViolation;

  /** Makes the error. */
  constructor(violation: EventViolation) {
    const { position, event, message } = violation;
    super(`Event ${position} (${event?.type ?? "the end"}): ${message}`);
    this.name = "EventOrderError";
    this.violation = violation;
  }
}

/** A rule that an event breaks, before one knows where it stands. */
export class RuleViolation {
  /** The rule. */
  readonly rule: EventRule;
  /** What is wrong, in words. */
  readonly message: string;

  /** Names the rule, and says what is wrong. */
  constructor(rule: EventRule, message: string) {
    this.rule = rule;
    this.message = message;
  }
}

/** Holds an event to a rule. */
export function assertRule(
  condition: boolean,
  rule: EventRule,
  message: string,
): asserts condition {
  if (!condition) throw new RuleViolation(rule, message);
}
