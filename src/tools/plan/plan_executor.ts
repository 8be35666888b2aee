/**
 * Executes approved plans.
 *
 * @module
 */

import { Agent } from "../../agent/agent.ts";
import type { AgentResult } from "../../agent/agent_result.ts";
import type { AgentOptions } from "../../agent/options.ts";
import type { ApprovalDecisions } from "../../core/approval/approval.ts";
import { checkNames } from "../../core/checks/check_names.ts";
import { AlreadyRunningError, BadRequestError } from "../../core/errors/errors.ts";
import { findPlanMode } from "../../core/hooks/plan_mode_state.ts";
import { emitPlan, emitPlanEntry, PLAN_STEP_STATES } from "../../core/sessions/plan_entry.ts";
import type { PlanStepState } from "../../core/sessions/session_entry.ts";
import type { AgentTool, ToolContext } from "../../core/tools/tool.ts";
import { type ApprovedPlan, isApproved } from "./approve_plan.ts";
import { ApprovedFile, PLAN_APPROVAL, planApproval } from "./approved_file.ts";
import {
  createNotice,
  createReminder,
  createTask,
  EXECUTOR_INSTRUCTIONS,
} from "./executor_prompt.ts";
import { parsePlan } from "./parse_plan.ts";
import type { PlanFile } from "./plan_file.ts";
import { hashPlan } from "./plan_hash.ts";
import { type StepChange, StepProgress } from "./step_progress.ts";
import { type StepRecorder, updateStepTool } from "./update_step.ts";

/**
 * Options for {@linkcode createPlanExecutor}.
 *
 * @typeParam Tool The type of the tools, which determines that of the `context`.
 */
export interface PlanExecutorOptions<Tool extends AgentTool<never> = AgentTool> {
  /** The file of the plan. It must have the approved content until the plan is executed; the states are written into it. */
  readonly file: PlanFile;
  /**
   * The options of the agent: the model, the tools, and a system prompt with the context of the project. Its history is
   * empty, so that it does not get the conversation of the planner.
   */
  readonly agent: Omit<AgentOptions<Tool>, "messages" | "pendingApprovals" | "decidedCalls">;
}

/** A step and its state. */
export interface ExecutedStep {
  /** Title. */
  readonly title: string;
  /** Progress. */
  readonly state: PlanStepState;
  /** The last comment of the executor, if it made one in this process. */
  readonly note?: string;
}

/**
 * The end of an execution. `complete`: all steps are done. `failed`: a step has failed. `incomplete`: the run has ended
 * before, for example by an error, an abort or a policy. `needs_approval`: the plan is not approved, or was edited.
 */
export type PlanOutcome =
  & {
    /** The steps, in order. */
    readonly steps: readonly ExecutedStep[];
    /** The result of the last run; missing if there was none. */
    readonly result?: AgentResult;
  }
  & (
    | { readonly type: "complete" }
    | {
      readonly type: "failed" | "incomplete" | "needs_approval";
      /** The reason, as a sentence without a period. */
      readonly reason: string;
    }
  );

/** Options for {@linkcode PlanExecutor.start}. */
export interface StartPlanOptions {
  /** Aborts the execution, which then is incomplete. */
  readonly signal?: AbortSignal | undefined;
}

/** Options for {@linkcode PlanExecutor.resume}. */
export interface ResumePlanOptions extends StartPlanOptions {
  /** The decisions on the tool calls that wait for approvals. Default: none. */
  readonly approvals?: ApprovalDecisions | undefined;
}

/** The part of a resumed session that an execution continues; `openSession()` of `@swink/agent/memory` returns one. */
export interface ExecutedSession {
  /** The last plan of the session, with its states. */
  readonly plan?: {
    /** The plan, as Markdown. */
    readonly plan: string;
    /** The states of the steps, in order. */
    readonly steps: readonly { readonly state: PlanStepState }[];
    /** The hash under which it was approved. */
    readonly approvedHash?: string;
  } | undefined;
}

/** Executes one approved plan, with an agent of its own. */
export interface PlanExecutor {
  /** The agent, to subscribe to its events and to record it. */
  readonly agent: Agent;
  /** The steps as of the last update; none before the start. */
  readonly steps: readonly ExecutedStep[];
  /**
   * Executes an approved plan until its steps are done, one has failed, or the run ends otherwise. The plan and each state
   * are emitted as custom events `plan_created` and `plan_step`, which a session records.
   *
   * @throws {BadRequestError} If the plan is no result of `approvePlan()`, the executor has a plan or a history already, or
   * plan mode is on.
   * @throws {AlreadyRunningError} While the plan is executed.
   */
  start(plan: ApprovedPlan, options?: StartPlanOptions): Promise<PlanOutcome>;
  /**
   * Continues at the first step that is not done, also if it has failed: with the plan that was started, otherwise with
   * that of a session that was resumed into the agent.
   *
   * @throws {BadRequestError} If plan mode is on.
   * @throws {AlreadyRunningError} While the plan is executed.
   */
  resume(session?: ExecutedSession, options?: ResumePlanOptions): Promise<PlanOutcome>;
}

/**
 * Creates an executor. Its agent has the tools of the options and `update_step`.
 *
 * The content of the file is compared with the approved one before each turn and each call: an edit ends the run, and
 * needs an approval.
 *
 * @throws {BadRequestError} If an option is unknown or invalid.
 *
 * @example
 * ```ts
 * import { approvePlan, createPlanExecutor, planFile } from "@swink/agent/plan";
 * import { reply, scriptedStream, toolCall } from "@swink/agent/testing";
 *
 * const directory = await Deno.makeTempDir();
 * const file = planFile(`${directory}/plan.md`);
 * await file.write("# Faster start\n\n## 1. Measure\n");
 *
 * const update = (state: string) => reply([toolCall("update_step", { step: 1, state })]);
 * const streamFn = scriptedStream([update("in_progress"), update("done"), reply("Measured.")]);
 * const executor = createPlanExecutor({ file, agent: { model: "any/model", streamFn } });
 *
 * const approval = await approvePlan(file, { ask: ({ hash }) => ({ type: "approved", hash }) });
 * if (approval.type === "approved") {
 *   (await executor.start(approval.plan)).type; // "complete"
 * }
 * ```
 */
export function createPlanExecutor<Tool extends AgentTool<never> = AgentTool>(
  options: PlanExecutorOptions<Tool>,
): PlanExecutor {
  checkNames(options, ["file", "agent"], "createPlanExecutor()");
  // Only callers need the type of the context.
  return new ApprovedPlanExecutor(options as unknown as PlanExecutorOptions);
}

/** A plan while it is executed. */
interface Execution {
  readonly text: string;
  readonly titles: readonly string[];
  readonly progress: StepProgress;
  readonly notes: Map<number, string>;
  readonly file: ApprovedFile;
}

class ApprovedPlanExecutor implements PlanExecutor, StepRecorder {
  readonly agent: Agent;
  readonly #file: PlanFile;
  readonly #options: PlanExecutorOptions["agent"];
  #execution: Execution | undefined;
  #isExecuting = false;

  constructor({ file, agent: options }: PlanExecutorOptions) {
    this.#file = file;
    this.#options = options;
    const { systemPrompt = "", tools = [], policies = [] } = options;
    this.agent = new Agent({
      ...options,
      messages: [],
      pendingApprovals: [],
      decidedCalls: [],
      systemPrompt: `${systemPrompt}\n\n${EXECUTOR_INSTRUCTIONS}`.trim(),
      tools: [...tools, updateStepTool(this)],
      policies: [planApproval(() => this.#execution?.file), ...policies],
    });
  }

  get steps(): readonly ExecutedStep[] {
    const { titles = [], progress, notes } = this.#execution ?? {};
    return titles.map((title, step) => {
      const note = notes?.get(step);
      const state = progress?.getState(step) ?? "pending";
      return { title, state, ...(note !== undefined && { note }) };
    });
  }

  start(plan: ApprovedPlan, options: StartPlanOptions = {}): Promise<PlanOutcome> {
    return this.#runAlone(() => this.#start(plan, options));
  }

  resume(session: ExecutedSession = {}, options: ResumePlanOptions = {}): Promise<PlanOutcome> {
    return this.#runAlone(() => this.#resume(session, options));
  }

  async #start(plan: ApprovedPlan, options: StartPlanOptions): Promise<PlanOutcome> {
    if (this.#execution || this.agent.state.messages.length > 0) {
      throw new BadRequestError(
        "The executor has a plan or a history already: create another executor",
      );
    }
    if (!isApproved(plan)) {
      throw new BadRequestError("The plan must be the result of approvePlan() of this process");
    }
    const { text, hash } = plan;
    const changed = await this.#begin({ text, hash });
    if (changed) return changed;
    emitPlan(this.agent, { text, steps: this.steps, approvedHash: hash });
    return await this.#execute(() => this.#prompt(options), options);
  }

  async #resume({ plan }: ExecutedSession, options: ResumePlanOptions): Promise<PlanOutcome> {
    const unusable = this.#execution
      ? await this.#checkFile(this.#execution)
      : await this.#restore(plan);
    return unusable ?? await this.#execute(() => this.#continue(options), options);
  }

  async #checkFile({ file }: Execution): Promise<PlanOutcome | undefined> {
    const changed = await file.findChange();
    return changed === undefined ? undefined : this.#needApproval(changed);
  }

  async #restore(plan: ExecutedSession["plan"]): Promise<PlanOutcome | undefined> {
    if (plan?.approvedHash === undefined) {
      return this.#needApproval("The session has no approved plan: approve the plan and start it");
    }
    const { plan: text, approvedHash: hash } = plan;
    if (await hashPlan(text) !== hash) {
      return this.#needApproval("The plan of the session is not the one that was approved");
    }
    return await this.#begin({ text, hash, states: plan.steps.map(({ state }) => state) });
  }

  async update(
    change: StepChange,
    { runId, signal }: ToolContext,
  ): ReturnType<StepRecorder["update"]> {
    const execution = this.#execution;
    if (!execution || runId !== this.agent.state.runId) {
      const reason = "Only the agent that executes the plan can update its steps";
      return { type: "refused", reason };
    }
    const { progress, notes, file } = execution;
    const update = progress.update(change);
    if (update.type === "refused") return update;
    const { step, state, note } = change;
    if (update.type === "changed") {
      if (note !== undefined) notes.set(step, note);
      const comment = note === undefined ? {} : { note };
      emitPlanEntry(this.agent, { type: "plan_step", step, state, ...comment });
    }
    const problem = await file.writeStates(progress.states, signal);
    const text = createNotice(execution);
    return { type: "updated", text: problem === undefined ? text : `${text}\n${problem}` };
  }

  /** Rejects while the plan is executed, also before the first run of the agent begins. */
  async #runAlone(execute: () => Promise<PlanOutcome>): Promise<PlanOutcome> {
    if (this.#isExecuting || this.agent.state.isRunning) throw new AlreadyRunningError();
    this.#isExecuting = true;
    try {
      this.#checkPlanMode();
      return await execute();
    } finally {
      this.#isExecuting = false;
    }
  }

  #checkPlanMode(): void {
    if (findPlanMode(this.#options.policies)?.isActive) {
      throw new BadRequestError("Plan mode is on: turn it off before the plan is executed");
    }
  }

  /** Prepares the execution of a text; returns an outcome if its file has another one. */
  async #begin(
    { text, hash, states }: {
      readonly text: string;
      readonly hash: string;
      /** Default: those in the text. */
      readonly states?: readonly PlanStepState[];
    },
  ): Promise<PlanOutcome | undefined> {
    const parsed = parsePlan(text);
    if (parsed.type === "invalid") return this.#needApproval("The approved text is no plan");
    const file = new ApprovedFile(this.#file, hash);
    const changed = await file.findChange();
    if (changed !== undefined) return this.#needApproval(changed);
    const { steps } = parsed.plan;
    const progress = new StepProgress(
      steps.map(({ state }, step) => states ? toState(states[step]) : state),
    );
    const titles = steps.map(({ title }) => title);
    this.#execution = { text, titles, progress, notes: new Map(), file };
    await file.writeStates(progress.states);
    return undefined;
  }

  /** Runs the agent until the plan ends, or a run has changed no state. */
  async #execute(
    run: () => Promise<AgentResult | undefined>,
    { signal }: StartPlanOptions,
  ): Promise<PlanOutcome> {
    if (this.#execution?.progress.current === undefined) {
      return { type: "complete", steps: this.steps };
    }
    let states = this.#formatStates();
    let result = await run();
    while (true) {
      const outcome = await this.#judge(result);
      if (outcome) return outcome;
      const ended = this.#formatStates();
      // Not changes: a step that fails and begins again in every run would be repeated without end.
      if (states === ended) {
        const reason = "The agent has ended its work before all steps were done";
        return { type: "incomplete", reason, steps: this.steps, ...(result && { result }) };
      }
      states = ended;
      result = await this.agent.prompt(this.#remind(), { signal });
    }
  }

  #formatStates(): string | undefined {
    return this.#execution?.progress.states.join();
  }

  /** Returns the outcome after a run; `undefined` if the agent has stopped with steps left. */
  async #judge(result: AgentResult | undefined): Promise<PlanOutcome | undefined> {
    const end = { steps: this.steps, ...(result && { result }) };
    const { progress, file } = this.#execution ?? {};
    const current = progress?.current;
    if (current === undefined) return { type: "complete", ...end };
    const changed = result?.stoppedBy?.policy === PLAN_APPROVAL && await file?.findChange();
    if (changed) return { type: "needs_approval", reason: changed, ...end };
    if (progress?.getState(current) === "failed") {
      const { note } = this.steps[current] ?? {};
      const reason = `Step ${current + 1} has failed${note === undefined ? "" : `: ${note}`}`;
      return { type: "failed", reason, ...end };
    }
    const reason = findInterruption(result);
    return reason === undefined ? undefined : { type: "incomplete", reason, ...end };
  }

  async #prompt({ signal }: StartPlanOptions): Promise<AgentResult | undefined> {
    const execution = this.#execution;
    return execution && await this.agent.prompt(createTask(execution), { signal });
  }

  /** Continues the conversation where it ended, or starts it if nothing of it was stored. */
  async #continue(
    { signal, approvals }: ResumePlanOptions,
  ): Promise<AgentResult | undefined> {
    const { messages, pendingApprovals, interruptedCalls } = this.agent.state;
    const last = messages.at(-1);
    if (!last) return await this.#prompt({ signal });
    if (pendingApprovals.length > 0 && !approvals) return undefined;
    const hasWork = pendingApprovals.length + interruptedCalls.length > 0;
    return hasWork || last.role !== "assistant"
      ? await this.agent.continue({ signal, approvals })
      : await this.agent.prompt(this.#remind(), { signal });
  }

  #remind(): string {
    return this.#execution ? createReminder(this.#execution) : "";
  }

  #needApproval(reason: string): PlanOutcome {
    return { type: "needs_approval", reason, steps: this.steps };
  }
}

/** Returns a state of a session; one that this version does not know counts as open. */
function toState(state: PlanStepState | undefined): PlanStepState {
  return state !== undefined && PLAN_STEP_STATES.includes(state) ? state : "pending";
}

/** Returns the reason why a run did not end by its last reply; `undefined` if it did. */
function findInterruption(result: AgentResult | undefined): string | undefined {
  if (!result || result.pendingApprovals) return "Tool calls wait for approvals";
  const { error, stoppedBy, stopReason } = result;
  if (error) return error.message;
  if (stoppedBy) return stoppedBy.reason;
  return stopReason === "aborted" ? "The run was aborted" : undefined;
}
