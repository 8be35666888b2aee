/**
 * Plan mode: an agent that can only read writes a plan, a person approves it, and another agent executes it.
 *
 * {@linkcode createPlanMode} removes the tools that change something, and adds one that writes a plan into a
 * {@linkcode planFile}, as Markdown that a person may edit. {@linkcode approvePlan} asks a person about exactly that text.
 * {@linkcode createPlanExecutor} executes it with an agent of its own, step by step, and continues after a crash.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { approvePlan, createPlanMode, planFile } from "@swink/agent/plan";
 * import { reply, scriptedStream, toolCall } from "@swink/agent/testing";
 *
 * const directory = await Deno.makeTempDir();
 * const file = planFile(`${directory}/plan.md`);
 * const mode = createPlanMode({ file });
 * const step = { title: "Measure", description: "", files: [], criteria: ["A time is printed."] };
 * const plan = { title: "Faster start", context: "", steps: [step] };
 * const streamFn = scriptedStream([reply([toolCall("write_plan", plan)]), reply("Written.")]);
 * const agent = new Agent({ model: "any/model", policies: [mode], streamFn });
 * mode.turnOn(agent);
 * await agent.prompt("Plan a faster start");
 *
 * (await approvePlan(file)).type; // "refused": no person can be asked
 * ```
 *
 * @module
 */

export { createPlanMode, type PlanMode, type PlanModeOptions } from "./create_plan_mode.ts";
export type { PlanModeAgent, PlanModeState } from "../../core/hooks/plan_mode_state.ts";
export type { CustomEventEmitter } from "../../core/sessions/plan_entry.ts";
export { type PlanFile, planFile, type PlanFileOptions, type PlanFileRead } from "./plan_file.ts";
export { formatProblems, type ParsedPlan, parsePlan } from "./parse_plan.ts";
export { formatPlan, normalizePlan, replacePlan } from "./format_plan.ts";
export { clearStates, setStates } from "./step_state.ts";
export { type Plan, PLAN_LIMITS, type PlanDraft, type PlanProblem, type PlanStep } from "./plan.ts";
export { hashPlan } from "./plan_hash.ts";
export {
  type ApprovedPlan,
  approvePlan,
  type ApprovePlanOptions,
  type PlanApproval,
  type PlanDecision,
  type PlanReview,
  type ReadPlan,
  readPlan,
} from "./approve_plan.ts";
export {
  createPlanExecutor,
  type ExecutedSession,
  type ExecutedStep,
  type PlanExecutor,
  type PlanExecutorOptions,
  type PlanOutcome,
  type ResumePlanOptions,
  type StartPlanOptions,
} from "./plan_executor.ts";
