/**
 * The approval of a plan: a person approves the content of its file, by its hash.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { formatProblems, parsePlan } from "./parse_plan.ts";
import type { Plan } from "./plan.ts";
import type { PlanFile } from "./plan_file.ts";
import { hashPlan } from "./plan_hash.ts";

/** A plan that a person reviews. */
export interface PlanReview {
  /** Absolute path of its file. */
  readonly path: string;
  /** The complete text of the file, which the executor gets. Show it as it is: a rendering hides comments. */
  readonly text: string;
  /** The plan in the text. */
  readonly plan: Plan;
  /** SHA-256 of the text without the states of the steps, in hexadecimal. */
  readonly hash: string;
}

/** The decision of a person about a plan. */
export type PlanDecision =
  | {
    readonly type: "approved";
    /** The `hash` of the review that the person has seen. */
    readonly hash: string;
  }
  | {
    readonly type: "refused";
    /** The reason. Default: none. */
    readonly reason?: string | undefined;
  };

/** Options for {@linkcode approvePlan}. */
export interface ApprovePlanOptions {
  /** Asks a person about a plan. Default: no person can be asked, so that no plan is approved. */
  readonly ask?:
    | ((
      review: PlanReview,
      context: { readonly signal?: AbortSignal | undefined },
    ) => PlanDecision | Promise<PlanDecision>)
    | undefined;
  /** Aborts the approval with an `AbortedError`. */
  readonly signal?: AbortSignal | undefined;
}

/** A plan as a person has approved it. Only {@linkcode approvePlan} creates one. */
export type ApprovedPlan = PlanReview;

/** The approval of a plan, or the reason why there is none, as a sentence without a period. */
export type PlanApproval =
  | { readonly type: "approved"; readonly plan: ApprovedPlan }
  | { readonly type: "refused"; readonly reason: string };

const approvedPlans = new WeakSet<ApprovedPlan>();

/** Whether {@linkcode approvePlan} has created this object in this process. */
export function isApproved(plan: ApprovedPlan): boolean {
  return approvedPlans.has(plan);
}

/** A plan that can be reviewed, or the reason why there is none. */
export type ReadPlan =
  | { readonly type: "plan"; readonly review: PlanReview }
  | { readonly type: "refused"; readonly reason: string };

/**
 * Reads the plan of a file.
 *
 * @throws {AbortedError} When `signal` is aborted.
 */
export async function readPlan(
  file: PlanFile,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<ReadPlan> {
  const read = await file.read(signal);
  switch (read.type) {
    case "missing":
      return { type: "refused", reason: `There is no plan at ${JSON.stringify(file.path)}` };
    case "refused":
      return { type: "refused", reason: `The plan was not read: ${read.reason}` };
    case "text":
      return await toReview(file.path, read.text);
  }
}

async function toReview(path: string, text: string): Promise<ReadPlan> {
  const parsed = parsePlan(text);
  switch (parsed.type) {
    case "invalid":
      return {
        type: "refused",
        reason: `${JSON.stringify(path)} is no plan:\n${formatProblems(parsed.problems)}`,
      };
    case "plan": {
      const review = { path, text, plan: parsed.plan, hash: await hashPlan(text) };
      return { type: "plan", review };
    }
  }
}

/**
 * Asks a person about the plan of a file. The approval is valid for exactly the text that the person has seen: it is
 * refused if the file has changed meanwhile, and the executor refuses it if the file changes afterwards. The states of the
 * steps may change.
 *
 * @throws {AbortedError} When `signal` is aborted.
 *
 * @example
 * ```ts
 * import { approvePlan, planFile } from "@swink/agent/plan";
 *
 * const directory = await Deno.makeTempDir();
 * const file = planFile(`${directory}/plan.md`);
 * await file.write("# Faster start\n\n## 1. Measure\n");
 *
 * const ask = ({ hash }: { hash: string }) => ({ type: "approved", hash }) as const;
 * (await approvePlan(file, { ask })).type; // "approved"
 * (await approvePlan(file)).type; // "refused": no person can be asked
 * ```
 */
export async function approvePlan(
  file: PlanFile,
  { ask, signal }: ApprovePlanOptions = {},
): Promise<PlanApproval> {
  const read = await readPlan(file, { signal });
  if (read.type === "refused") return read;
  if (!ask) {
    return createRefusal("A person must approve the plan, and no person can be asked in this run");
  }
  const { review } = read;
  const decision = await getDecision(() => ask(review, { signal }));
  signal?.throwIfAborted();
  if (decision.type === "refused") {
    return createRefusal(decision.reason ?? "The plan was refused without a reason");
  }
  const current = await readPlan(file, { signal });
  const isSame = decision.hash === review.hash && current.type === "plan" &&
    current.review.text === review.text;
  if (!isSame) {
    return createRefusal("The plan was edited after the review, so that it must be reviewed again");
  }
  approvedPlans.add(Object.freeze(review));
  return { type: "approved", plan: review };
}

/** Returns a decision; a failure and an answer of another type refuse the plan. */
async function getDecision(
  ask: () => PlanDecision | Promise<PlanDecision>,
): Promise<PlanDecision> {
  try {
    const decision: unknown = await ask();
    if (isDecision(decision)) return decision;
    return createRefusal(
      'The answer was neither { type: "approved", hash } nor { type: "refused" }',
    );
  } catch (thrown) {
    return createRefusal(`The approval failed: ${getErrorMessage(thrown)}`);
  }
}

function isDecision(value: unknown): value is PlanDecision {
  if (!isJsonObject(value)) return false;
  const { type, hash, reason } = value;
  if (type === "approved") return typeof hash === "string";
  return type === "refused" && (reason === undefined || typeof reason === "string");
}

function createRefusal(reason: string): { readonly type: "refused"; readonly reason: string } {
  return { type: "refused", reason };
}
