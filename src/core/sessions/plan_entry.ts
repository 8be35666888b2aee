/**
 * Plans in the events of an agent and in the log of its session.
 *
 * There is one channel: a custom event whose name and data are those of an entry. A recorder stores it as that entry.
 *
 * @module
 */

import type { CustomEvent } from "../events/event.ts";
import { isJsonObject } from "../json/json.ts";
import type {
  PlanCreatedEntry,
  PlanModeEntry,
  PlanStepEntry,
  PlanStepState,
} from "./session_entry.ts";

/** An entry about a plan. */
export type PlanEntry = PlanCreatedEntry | PlanStepEntry | PlanModeEntry;

/** All states of steps. */
export const PLAN_STEP_STATES: readonly PlanStepState[] = [
  "pending",
  "in_progress",
  "complete",
  "failed",
];

/** An agent that emits events of the application. */
export interface CustomEventEmitter {
  /** Emits an event. */
  emitCustom(name: string, data: unknown): void;
}

/** Emits an entry as a custom event. */
export function emitPlanEntry(agent: CustomEventEmitter, { type, ...data }: PlanEntry): void {
  agent.emitCustom(type, data);
}

/** A plan to emit. */
export interface EmittedPlan {
  /** The plan, as Markdown. */
  readonly text: string;
  /** The steps, in order. */
  readonly steps: readonly { readonly title: string; readonly state: PlanStepState }[];
  /** The hash of its approval. Default: it was not approved. */
  readonly approvedHash?: string;
}

/** Emits a plan and the states of its steps that are not open. */
export function emitPlan(
  agent: CustomEventEmitter,
  { text, steps, ...approval }: EmittedPlan,
): void {
  const titles = steps.map(({ title }) => title);
  emitPlanEntry(agent, { type: "plan_created", plan: text, steps: titles, ...approval });
  steps.forEach(({ state }, step) => {
    if (state !== "pending") emitPlanEntry(agent, { type: "plan_step", step, state });
  });
}

type Check = (value: unknown) => boolean;

const isString: Check = (value) => typeof value === "string";

/** The checks of each member, by the name of the event. */
const CHECKS: Readonly<Record<PlanEntry["type"], Readonly<Record<string, Check>>>> = {
  plan_created: {
    plan: isString,
    steps: (value) => Array.isArray(value) && value.every(isString),
    approvedHash: (value) => value === undefined || isString(value),
  },
  plan_step: {
    step: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
    state: (value) => (PLAN_STEP_STATES as readonly unknown[]).includes(value),
    note: (value) => value === undefined || isString(value),
  },
  plan_mode: { active: (value) => typeof value === "boolean" },
};

/** Returns the entry of a custom event; `undefined` for an event of the application that has such a name by chance. */
export function toPlanEntry({ name, data }: CustomEvent): PlanEntry | undefined {
  if (!Object.hasOwn(CHECKS, name) || !isJsonObject(data)) return undefined;
  const checks = CHECKS[name as PlanEntry["type"]];
  const hasMembers = Object.entries(checks).every(([member, check]) => check(data[member]));
  const hasOthers = Object.keys(data).some((member) => !Object.hasOwn(checks, member));
  return hasMembers && !hasOthers ? { type: name, ...data } as unknown as PlanEntry : undefined;
}
