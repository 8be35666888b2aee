/**
 * One run of a case.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { BadRequestError, getErrorMessage } from "../../core/errors.ts";
import type { Policy } from "../../core/policy.ts";
import { isAbsolute, join } from "../../platform/paths.ts";
import type { EvalCase } from "../case/eval_case.ts";
import { BudgetGuard } from "../evaluators/budget_guard.ts";
import type { EvaluatorRegistry } from "../evaluators/evaluator_registry.ts";
import { createBinaryScore, type Score } from "../evaluators/score.ts";
import { TrajectoryCollector } from "../trajectory/trajectory_collector.ts";
import type { CaseDirectory, CreateCaseDirectory } from "./case_directory.ts";
import type { CaseResult } from "./case_result.ts";

/** A run that needs an agent. */
export interface EvalAgentRequest {
  /** The case. */
  readonly evalCase: EvalCase;
  /** Number of the repetition, from 1. */
  readonly repetition: number;
  /** A number for the randomness of the run, the same for the same seed, case and repetition. */
  readonly seed: number;
  /** Returns the directory of the run, with a copy of the fixture; creates it on the first call. */
  readonly getDirectory: () => Promise<string>;
}

/**
 * Creates the agent of a run. The model, the system prompt and the selected tools of the case are set afterwards, and its
 * budget is guarded.
 */
export type MakeAgent = (request: EvalAgentRequest) => Agent | Promise<Agent>;

/** The parts that all runs of a set share. */
export interface RunServices {
  readonly makeAgent: MakeAgent;
  readonly evaluators: EvaluatorRegistry;
  readonly createDirectory: CreateCaseDirectory;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Directory from which the paths of fixtures start. */
  readonly setDirectory: string | undefined;
}

/** A run to make. */
export interface PlannedRun extends Pick<EvalAgentRequest, "evalCase" | "repetition" | "seed"> {}

/** The metric of the run itself. */
const RUN_METRIC = "run";

/** Runs a case once, in a directory of its own. Never rejects; an error fails the run. */
export async function runCase(planned: PlannedRun, services: RunServices): Promise<CaseResult> {
  const directory = createLazyDirectory(planned.evalCase, services);
  const startedAt = services.now();
  const collector = new TrajectoryCollector();
  let failure: string | undefined;
  try {
    failure = await executeRun({ planned, services, directory, collector });
  } catch (error) {
    failure = getErrorMessage(error);
  }
  const durationMs = services.now() - startedAt;
  const run = { planned, services, directory, collector };
  const scores = await scoreRun(run, { failure, durationMs });
  failure = await removeDirectory(directory);
  if (failure !== undefined) scores.push(createBinaryScore(RUN_METRIC, false, failure));
  return {
    caseId: planned.evalCase.id,
    repetition: planned.repetition,
    outcome: services.signal.aborted ? "skipped" : getOutcome(scores),
    scores,
    trajectory: collector.trajectory,
    durationMs,
  };
}

interface CaseRun {
  readonly planned: PlannedRun;
  readonly services: RunServices;
  readonly directory: LazyDirectory;
  readonly collector: TrajectoryCollector;
}

/** Sends the messages of the user; returns the reason why the run failed, if it did. */
async function executeRun(
  { planned, services, directory, collector }: CaseRun,
): Promise<string | undefined> {
  const { evalCase } = planned;
  const needsDirectory = evalCase.fixture !== undefined || evalCase.expectedFiles !== undefined;
  if (needsDirectory) await directory.getPath();
  const agent = await services.makeAgent({ ...planned, getDirectory: directory.getPath });
  configureAgent(agent, evalCase);
  const guard = evalCase.budget && new BudgetGuard(evalCase.budget);
  const policies: Policy[] = guard ? [guard.policy] : [];
  for (const message of evalCase.userMessages) {
    const stream = agent.promptStream(message, { signal: services.signal, policies });
    for await (const event of stream) collector.add(event);
    const { error, stoppedBy } = collector.trajectory;
    if (guard?.exceeded) return `The budget stopped the run: ${guard.exceeded}`;
    if (error !== undefined) return `The run failed: ${error}`;
    if (stoppedBy !== undefined) return `A policy stopped the run: ${stoppedBy}`;
  }
  return undefined;
}

function configureAgent(agent: Agent, { model, systemPrompt, tools }: EvalCase): void {
  if (model !== undefined) agent.setModel(model);
  if (systemPrompt !== undefined) agent.setSystemPrompt(systemPrompt);
  if (!tools) return;
  const known = agent.state.tools;
  const missing = tools.find((name) => !known.some((tool) => tool.name === name));
  if (missing !== undefined) throw new BadRequestError(`The agent has no tool "${missing}"`);
  agent.setTools(known.filter(({ name }) => tools.includes(name)));
}

async function scoreRun(
  { planned, services, directory, collector }: CaseRun,
  { failure, durationMs }: { readonly failure: string | undefined; readonly durationMs: number },
): Promise<Score[]> {
  const failures = failure === undefined ? [] : [createBinaryScore(RUN_METRIC, false, failure)];
  if (services.signal.aborted) return failures;
  const scores = await services.evaluators.evaluate({
    evalCase: planned.evalCase,
    trajectory: collector.trajectory,
    durationMs,
    directory: directory.created?.path,
    signal: services.signal,
  });
  return [...failures, ...scores];
}

function getOutcome(scores: readonly Score[]): "passed" | "failed" {
  return scores.length > 0 && scores.every(({ passed }) => passed) ? "passed" : "failed";
}

/** A directory that is created on first use. */
interface LazyDirectory {
  readonly getPath: () => Promise<string>;
  created: CaseDirectory | undefined;
}

function createLazyDirectory(
  { fixture }: EvalCase,
  { createDirectory, setDirectory }: RunServices,
): LazyDirectory {
  let pending: Promise<CaseDirectory> | undefined;
  const directory: LazyDirectory = {
    created: undefined,
    getPath: async () => {
      pending ??= createDirectory(fixture && resolveFixture(fixture, setDirectory));
      directory.created = await pending;
      return directory.created.path;
    },
  };
  return directory;
}

function resolveFixture(fixture: string, directory: string | undefined): string {
  return directory === undefined || isAbsolute(fixture) ? fixture : join(directory, fixture);
}

async function removeDirectory({ created }: LazyDirectory): Promise<string | undefined> {
  try {
    await created?.remove();
    return undefined;
  } catch (error) {
    return `The directory cannot be removed: ${getErrorMessage(error)}`;
  }
}
