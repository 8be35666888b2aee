/**
 * One run of a case.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { isAgent } from "../../agent/is_agent.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import type { AgentEndEvent } from "../../core/events/event.ts";
import type { Policy } from "../../core/hooks/policy.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { EvalCase } from "../case/eval_case.ts";
import { resolveFixture } from "../case/resolve_fixture.ts";
import { BudgetGuard } from "../evaluators/budget_guard.ts";
import type { EvalContext } from "../evaluators/evaluator.ts";
import type { EvaluatorRegistry } from "../evaluators/evaluator_registry.ts";
import { createBinaryScore, type Score } from "../evaluators/score.ts";
import { settleAfterAbort } from "../evaluators/settle_after_abort.ts";
import type { FinishedRun, OpenRunConnection, RunConnection } from "../recording/run_connection.ts";
import { hasWorked } from "../trajectory/has_worked.ts";
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
  /** Sends requests; for the adapter of the agent, so that they are recorded and replayed. */
  readonly fetch: typeof globalThis.fetch;
  /** Start of the run, in milliseconds since the epoch; for a replay that of the recorded run, for prompts with a date. */
  readonly startedAt: number;
}

/** An agent with its resources, which are disposed of before its run is scored. */
export interface DisposableAgent extends Partial<AsyncDisposable> {
  /** The agent. */
  readonly agent: Agent;
}

/**
 * Creates the agent of a run: a new one for each run. The model, the system prompt and the selected tools of the case are
 * set afterwards, and its budget is guarded.
 */
export type MakeAgent = (
  request: EvalAgentRequest,
) => Agent | DisposableAgent | Promise<Agent | DisposableAgent>;

/** The parts that all runs of a set share. */
export interface RunServices {
  readonly makeAgent: MakeAgent;
  readonly evaluators: EvaluatorRegistry;
  readonly createDirectory: CreateCaseDirectory;
  readonly openConnection: OpenRunConnection;
  readonly now: () => number;
  /** Returns the milliseconds since any time, which a change of the time of the system does not affect. */
  readonly elapsed: () => number;
  readonly signal: AbortSignal;
  /** Directory from which the paths of fixtures start. */
  readonly setDirectory: string | undefined;
  /** The agents of other runs. */
  readonly usedAgents: WeakSet<Agent>;
}

/** A run to make. */
export interface PlannedRun extends Pick<EvalAgentRequest, "evalCase" | "repetition" | "seed"> {}

/** The metric of the run itself. */
const RUN_METRIC = "run";

/** Runs a case once, in a directory of its own. Never rejects; an error fails the run. */
export async function runCase(planned: PlannedRun, services: RunServices): Promise<CaseResult> {
  const { now, elapsed, signal } = services;
  const connection = services.openConnection({
    ...identifyRun(planned),
    prompts: planned.evalCase.userMessages,
  });
  const directory = createLazyDirectory(planned.evalCase, { ...services, ...connection });
  const collector = new TrajectoryCollector({ now });
  const run: CaseRun = { planned, services, connection, directory, collector, model: undefined };
  const startedAt = elapsed();
  const runFailure = await captureFailure(() => settleAfterAbort(executeRun(run), signal));
  const durationMs = Math.max(0, elapsed() - startedAt);
  const { trajectory } = collector;
  const scores = await scoreRun(run, { trajectory, durationMs });
  const end = getEnd(run, runFailure);
  const recordingFailure = await captureFailure(() => finishConnection(run, end));
  const directoryFailure = await captureFailure(() => removeDirectory(run));
  const failures = [runFailure, recordingFailure, directoryFailure]
    .filter((failure) => failure !== undefined);
  const runScores = failures.map((failure) => createBinaryScore(RUN_METRIC, false, failure));
  const allScores = [...runScores, ...scores];
  return {
    ...identifyRun(planned),
    seed: connection.seed,
    model: run.model,
    outcome: signal.aborted ? "skipped" : getOutcome(allScores),
    scores: allScores,
    trajectory,
    durationMs,
  };
}

/** Returns the part of a result that identifies its run. */
export function identifyRun(
  { evalCase, repetition, seed }: PlannedRun,
): Pick<CaseResult, "caseId" | "repetition" | "seed"> {
  return { caseId: evalCase.id, repetition, seed };
}

interface CaseRun {
  readonly planned: PlannedRun;
  readonly services: RunServices;
  readonly connection: RunConnection;
  readonly directory: LazyDirectory;
  readonly collector: TrajectoryCollector;
  model: string | undefined;
}

/** Returns the reason why an operation failed: its result, or the message of its error. */
async function captureFailure(
  operation: () => Promise<string | undefined | void>,
): Promise<string | undefined> {
  try {
    return await operation() ?? undefined;
  } catch (error) {
    return getErrorMessage(error);
  }
}

/** Creates the agent and sends the messages of the user; returns the reason why the run failed, if it did. */
async function executeRun(run: CaseRun): Promise<string | undefined> {
  const { planned, services, directory, connection: { fetch, seed, startedAt } } = run;
  const { evalCase } = planned;
  const needsDirectory = services.evaluators.needsDirectory(evalCase);
  if (evalCase.fixture !== undefined || needsDirectory) await directory.getPath();
  const getDirectory = directory.getPath;
  const made = await services.makeAgent({ ...planned, getDirectory, fetch, seed, startedAt });
  await using owned = toOwnedAgent(made);
  const { agent } = owned;
  if (services.usedAgents.has(agent)) {
    throw new BadRequestError("makeAgent() returned the agent of another run: create a new one");
  }
  services.usedAgents.add(agent);
  configureAgent(agent, evalCase);
  const { provider, modelId } = agent.state.model;
  run.model = `${provider}/${modelId}`;
  return await promptAgent(agent, run);
}

/** @throws {BadRequestError} If the value is neither an agent nor one with its resources. */
function toOwnedAgent(made: unknown): AsyncDisposable & { readonly agent: Agent } {
  const isOwner = isJsonObject(made) && "agent" in made;
  const resources: Partial<DisposableAgent> = isOwner ? made : {};
  const agent: unknown = isOwner ? resources.agent : made;
  if (!isAgent(agent)) {
    throw new BadRequestError(`makeAgent() must return an agent, not ${describeValue(made)}`);
  }
  return {
    agent,
    [Symbol.asyncDispose]: async () => await resources[Symbol.asyncDispose]?.(),
  };
}

async function promptAgent(
  agent: Agent,
  { planned: { evalCase }, services: { signal, elapsed }, collector }: CaseRun,
): Promise<string | undefined> {
  const guard = evalCase.budget && new BudgetGuard(evalCase.budget, { elapsed });
  const policies: Policy[] = guard ? [guard.policy] : [];
  for (const message of evalCase.userMessages) {
    let failure: string | undefined;
    for await (const event of agent.promptStream(message, { signal, policies })) {
      collector.add(event);
      if (event.type === "agent_end") failure = describeFailure(event);
    }
    if (guard?.exceeded) return `The budget stopped the run: ${guard.exceeded}`;
    if (failure !== undefined) return failure;
  }
  return expectsNothing(evalCase) || hasWorked(collector.trajectory)
    ? undefined
    : "The agent did nothing: it has neither a reply with a text nor a tool call";
}

/** Whether a case expects an empty answer. */
function expectsNothing({ expectedResponse }: EvalCase): boolean {
  return expectedResponse?.type === "exact" && expectedResponse.text === "";
}

/** Returns the reason why a run did not end with an answer. */
function describeFailure(
  { error, stoppedBy, stopReason, pendingApprovals = [] }: AgentEndEvent,
): string | undefined {
  if (error) return `The run failed: ${error.message}`;
  if (stoppedBy) return `A policy stopped the run: ${stoppedBy.reason}`;
  if (stopReason === "aborted") return "The run was aborted";
  const names = pendingApprovals.map(({ name }) => name).join(", ");
  return names === "" ? undefined : `The run waits for the approval of ${names}`;
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

/** Returns how a run ended, for its recording. */
function getEnd(
  { services: { signal }, collector }: CaseRun,
  failure: string | undefined,
): FinishedRun["end"] {
  if (signal.aborted) return "cancelled";
  if (failure === undefined) return "answered";
  return hasWorked(collector.trajectory) ? "failed" : "unanswered";
}

function finishConnection(
  { connection, model, directory }: CaseRun,
  end: FinishedRun["end"],
): Promise<void> {
  return connection.finish({ end, model, directory: directory.created?.path });
}

async function scoreRun(
  { planned, services, connection, directory }: CaseRun,
  { trajectory, durationMs }: Pick<EvalContext, "trajectory" | "durationMs">,
): Promise<Score[]> {
  const { signal, evaluators } = services;
  if (signal.aborted) return [];
  return await evaluators.evaluate({
    evalCase: planned.evalCase,
    trajectory,
    durationMs,
    directory: directory.created?.path,
    fetch: connection.evaluatorFetch,
    isRecorded: connection.isRecorded,
    signal,
  });
}

function getOutcome(scores: readonly Score[]): "passed" | "failed" {
  return scores.length > 0 && scores.every(({ passed }) => passed) ? "passed" : "failed";
}

/** A directory that is created on first use. */
interface LazyDirectory {
  readonly getPath: () => Promise<string>;
  created: CaseDirectory | undefined;
  /** Removes it, if it was used. */
  readonly remove: () => Promise<void>;
}

function createLazyDirectory(
  { fixture }: EvalCase,
  { createDirectory, setDirectory, directory: recordedPath }:
    & Pick<RunServices, "createDirectory" | "setDirectory">
    & Pick<RunConnection, "directory">,
): LazyDirectory {
  let pending: Promise<CaseDirectory> | undefined;
  const directory: LazyDirectory = {
    created: undefined,
    getPath: async () => {
      pending ??= createDirectory(
        fixture && resolveFixture(fixture, { directory: setDirectory }),
        { recordedPath },
      );
      directory.created = await pending;
      return directory.created.path;
    },
    remove: async () => {
      const created = await pending?.catch(() => undefined);
      try {
        await created?.remove();
      } catch (error) {
        throw new Error(`The directory cannot be removed: ${getErrorMessage(error)}`, {
          cause: error,
        });
      }
    },
  };
  return directory;
}

/** Removes the directory of a run. After an abort, one that is still being created is removed later. */
async function removeDirectory({ directory, services }: CaseRun): Promise<void> {
  const removal = directory.remove();
  if (directory.created || !services.signal.aborted) await removal;
  else removal.catch(() => {});
}
