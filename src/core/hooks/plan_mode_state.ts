/**
 * The state of plan mode, which a session keeps.
 *
 * @module
 */

import type { CustomEventEmitter } from "../sessions/plan_entry.ts";
import type { Policy } from "./policy.ts";

/** The agent of a plan mode, such as an `Agent`. */
export interface PlanModeAgent extends CustomEventEmitter {
  /** Its state. */
  readonly state: {
    /** Id of its latest run. */
    readonly runId: string;
  };
}

/** Plan mode of an agent: a policy of the agent, with a switch. */
export interface PlanModeState extends Policy {
  /** Name of the policy. */
  readonly name: "plan_mode";
  /** Whether plan mode is on. */
  readonly isActive: boolean;
  /** Turns plan mode on, as a session that is resumed had it, without an event. */
  restore(agent: PlanModeAgent): void;
}

/** Returns the plan mode among the policies of an agent; `undefined` if there is none. */
export function findPlanMode(policies: readonly Policy[] = []): PlanModeState | undefined {
  return policies.find(isPlanMode);
}

function isPlanMode(policy: Policy): policy is PlanModeState {
  const { name, isActive, restore } = policy as Partial<PlanModeState>;
  return name === "plan_mode" && typeof isActive === "boolean" && typeof restore === "function";
}
