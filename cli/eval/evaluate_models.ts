/**
 * Runs an evaluation with each model, and keeps the results.
 *
 * @module
 */

import type { ModelSpec } from "../../mod.ts";
import { AgentError, BadRequestError } from "../../src/core/errors/errors.ts";
import {
  type CaseResult,
  createEvalRun,
  type EvalRun,
  type EvalRunWriter,
  type EvalSet,
  resumeEvalRun,
  runEvalSet,
  type RunEvalSetOptions,
} from "../../src/eval/mod.ts";
import { ConfigurationError, UsageError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import type { InterruptHandler } from "../host/interrupt.ts";
import { formatModel } from "../render/format_model.ts";
import { chooseModel } from "../run/model/model_choice.ts";
import { checkRecording, getProviders } from "../run/model/provider_options.ts";
import type { RunSettings } from "../run/settings/settings.ts";
import { createMakeAgent } from "./case_agent.ts";
import { checkSandbox } from "./check_sandbox.ts";
import { EvalProgress } from "./eval_progress.ts";
import type { EvalSettings } from "./eval_settings.ts";
import { findRunDirectory } from "./find_run.ts";
import { checkRecordings, findRecordedModels, getModelDirectory } from "./model_directories.ts";
import { openResults } from "./results_directory.ts";

/** An evaluation to run. */
export interface Evaluation {
  /** The cases. */
  readonly set: EvalSet;
  /** Returns the evaluators, and what else the cases need, for the runs with a model. `onError` gets errors of judges. */
  prepare(
    model: ModelSpec,
    onError: (error: AgentError) => void,
  ): Promise<Pick<RunEvalSetOptions, "evaluators" | "createDirectory">>;
}

/** Dependencies of an evaluation. */
export interface EvaluationDependencies {
  /** Aborts the evaluation. */
  readonly interrupt: InterruptHandler;
  /** Terminal, environment and network. */
  readonly host: Host;
}

/** The evaluations of a set. */
export interface EvaluatedModels {
  /** Names of all models, also of those that were not evaluated. */
  readonly models: readonly string[];
  /** The evaluations that were made. */
  readonly runs: readonly EvalRun[];
  /** The error that ended the evaluation of the next model, such as a rejected key; `undefined` for none. */
  readonly failure: { readonly error: unknown } | undefined;
}

/**
 * Runs a set with each model, one after the other. The error of a model ends it: the evaluations before it are complete.
 *
 * @throws {ConfigurationError} If no model is configured, or one that is unknown.
 */
export async function evaluate(
  evaluation: Evaluation,
  settings: EvalSettings,
  dependencies: EvaluationDependencies,
): Promise<EvaluatedModels> {
  const models = await chooseModels(settings, dependencies.host);
  const { record, replay } = settings;
  const recording = { ...(record && { record }), ...(replay && { replay }) };
  for (const model of models) checkRecording(model, { ...settings.run, ...recording });
  if (settings.replay !== undefined) checkRecordings(settings.replay, models);
  // An unknown provider is found before the first model is paid for.
  await getProviders(models, { ...settings.run, needsKey: false }, dependencies.host);
  await checkSandbox(settings.run, dependencies.host);
  const runs: EvalRun[] = [];
  const names = models.map(formatModel);
  try {
    for (const model of models) {
      if (dependencies.interrupt.signal.aborted) break;
      runs.push(await evaluateModel(evaluation, { settings, model, ...dependencies }));
    }
    return { models: names, runs, failure: undefined };
  } catch (error) {
    return { models: names, runs, failure: { error } };
  }
}

async function chooseModels(settings: EvalSettings, host: Host): Promise<readonly ModelSpec[]> {
  const { models, replay, run } = settings;
  const recorded = models.length > 0 || replay === undefined
    ? []
    : await findRecordedModels(replay);
  const chosen = [...models, ...recorded];
  if (chosen.length === 0) chosen.push(await chooseModel(run, host));
  return selectModels(chosen, run);
}

/** Returns the models with their amount of reasoning, which is part of what is evaluated, each one once. */
export function selectModels(
  models: readonly ModelSpec[],
  { thinkingLevel }: Pick<RunSettings, "thinkingLevel">,
): readonly ModelSpec[] {
  const selected = models.map((model) => thinkingLevel ? { ...model, thinkingLevel } : model);
  return [...new Map(selected.map((model) => [formatModel(model), model])).values()];
}

interface ModelDependencies extends EvaluationDependencies {
  readonly settings: EvalSettings;
  readonly model: ModelSpec;
}

async function evaluateModel(
  { set, prepare }: Evaluation,
  dependencies: ModelDependencies,
): Promise<EvalRun> {
  const { settings, model, host, interrupt } = dependencies;
  const stop = new AbortController();
  let failure: AgentError | undefined;
  const onError = (error: AgentError) => {
    // A key command that a signal has interrupted is no error.
    if (interrupt.signal.aborted || !CONFIGURATION_ERRORS.includes(error.code)) return;
    failure ??= error;
    stop.abort(error);
  };
  const prepared = await prepare(model, onError);
  using writer = await openWriter(set, dependencies);
  // One that is resumed can be resumed again, and keeps its damaged results.
  let hasResults = settings.resume !== undefined;
  const signal = AbortSignal.any([stop.signal, interrupt.signal]);
  await using progress = new EvalProgress({
    total: countRuns(set, settings),
    finished: writer.finished,
  }, host);
  const onStart = (
    request: { readonly evalCase: { readonly id: string }; readonly repetition: number },
  ) => progress.start({ caseId: request.evalCase.id, repetition: request.repetition });
  try {
    await runEvalSet(set, createMakeAgent({ settings, model, signal, onStart, onError }, host), {
      ...getRunOptions(settings, model, host),
      ...prepared,
      signal,
      finished: writer.finished,
      omitCalls: true,
      onResult: async (result: CaseResult) => {
        // A run that failed because the key of the model or of a judge was rejected is no result of the model.
        if (!stop.signal.aborted) {
          await writer.append(result);
          hasResults ||= result.outcome !== "skipped";
        }
        await progress.finish(result);
      },
    });
    if (failure) throw createRejection(failure, model);
  } catch (error) {
    if (!hasResults) await Deno.remove(writer.directory, { recursive: true });
    // Files of the user, such as a damaged recording, are the reason.
    throw error instanceof BadRequestError ? new UsageError(error.message) : error;
  }
  // Only reports need the calls.
  return await writer.finish({ omitCalls: Object.keys(settings.reports).length === 0 });
}

/** Errors that each run would have. */
const CONFIGURATION_ERRORS: readonly string[] = ["auth_error", "model_not_found"];

function createRejection({ message }: AgentError, model: ModelSpec): ConfigurationError {
  return new ConfigurationError(
    `The evaluation with ${model.provider}/${model.modelId} was ended: ${message}`,
  );
}

function countRuns({ cases }: EvalSet, { seeds }: EvalSettings): number {
  return cases.reduce((sum, { repetitions = 1 }) => sum + (seeds?.length ?? repetitions), 0);
}

function getRunOptions(
  { parallel, seed, seeds, record, replay }: EvalSettings,
  model: ModelSpec,
  { fetch, now, elapsed }: Host,
): RunEvalSetOptions {
  return {
    parallel,
    seed,
    ...(seeds && { seeds }),
    ...(record !== undefined && { record: getModelDirectory(record, model) }),
    ...(replay !== undefined && { replay: getModelDirectory(replay, model) }),
    // The system prompt names it, and a recording can be replayed on another system.
    normalize: (text) => text.replace(/^- Operating system: .*$/m, "- Operating system"),
    fetch,
    now,
    elapsed,
  };
}

async function openWriter(
  set: EvalSet,
  { settings, model, host }: ModelDependencies,
): Promise<EvalRunWriter> {
  const { resume, results, seed, seeds } = settings;
  try {
    if (resume !== undefined) {
      const directory = await findRunDirectory(resume, { results, now: host.now });
      return await resumeEvalRun(directory, {
        set,
        now: host.now,
        omitCalls: true,
      });
    }
    const name = formatModel(model);
    const directory = await openResults(results, { set, model, now: host.now() });
    return await createEvalRun(directory, { set, model: name, seed, seeds, now: host.now });
  } catch (error) {
    if (AgentError.is(error)) throw new UsageError(error.message);
    throw error;
  }
}
