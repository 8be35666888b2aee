/**
 * The action of `swink eval run`.
 *
 * @module
 */

import type { ModelSpec } from "../../mod.ts";
import {
  type CaseResult,
  createEvalRun,
  type EvalRun,
  type EvalRunWriter,
  type EvalSet,
  loadEvalSet,
  resumeEvalRun,
  runEvalSet,
  type RunEvalSetOptions,
  summarizeRun,
} from "../../src/eval/mod.ts";
import { AgentError } from "../../src/core/errors.ts";
import { modelSpec } from "../../src/core/model.ts";
import { join } from "../../src/platform/paths.ts";
import { ConfigurationError, UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { toPlainText } from "../render/plain_text.ts";
import { getTableOptions } from "../render/table.ts";
import { chooseModel } from "../run/model_choice.ts";
import { getProviders } from "../run/provider_options.ts";
import { resolvePath } from "../run/resolve_path.ts";
import { createMakeAgent } from "./case_agent.ts";
import { createEvaluators } from "./eval_evaluators.ts";
import { EvalProgress } from "./eval_progress.ts";
import { type EvalCommandLine, type EvalSettings, parseEvalSettings } from "./eval_settings.ts";
import { formatRuns } from "./eval_tables.ts";
import { selectCases, selectSameCases } from "./select_cases.ts";
import { findRun, findRunDirectory, readHistory } from "./find_run.ts";
import { checkRecordings, findRecordedModels, getModelDirectory } from "./model_directories.ts";
import { openResults } from "./results_directory.ts";
import { addModelName, writeReports } from "./write_reports.ts";

/** Runs a set with each model, and prints the results. */
export async function runEvaluation(
  path: string,
  commandLine: EvalCommandLine,
  systemHost: Host,
): Promise<ExitCode> {
  using interrupt = new InterruptHandler(systemHost);
  const host = selectHost(systemHost, commandLine.options);
  const parsed = await parseEvalSettings(commandLine, interrupt.signal, host);
  const { resume, results } = parsed;
  const resumed = resume === undefined ? undefined : await findRun(resume, results);
  const settings = resumed ? { ...parsed, ...getResumedSettings(resumed) } : parsed;
  const set = await loadSet(resolvePath(path), settings, resumed);
  const runs = await evaluate(set, settings, { interrupt, host, setPath: path });
  return await reportRuns(runs, settings, { interrupt, host, setPath: path });
}

/** Returns the host with the environment of a terminal that only writes lines, or with other colors, if requested. */
function selectHost(
  host: Host,
  { plain, color }: EvalCommandLine["options"],
): Host {
  const changes: Readonly<Record<string, string>> = {
    ...(plain && { TERM: "dumb", FORCE_COLOR: "" }),
    ...(color === "always" && { FORCE_COLOR: "1" }),
    ...(color === "never" && { FORCE_COLOR: "", NO_COLOR: "1" }),
  };
  return { ...host, env: (name) => changes[name] ?? host.env(name) };
}

/** Returns the settings of an evaluation that continues. */
function getResumedSettings(
  { model, seed, seeds }: EvalRun,
): Pick<EvalSettings, "models" | "seed"> & Pick<Partial<EvalSettings>, "seeds"> {
  return {
    models: model === undefined ? [] : [modelSpec(model)],
    seed,
    ...(seeds && { seeds }),
  };
}

/**
 * Loads the selected cases of a set.
 *
 * @throws {UsageError} If the file is invalid, or no case is selected.
 */
async function loadSet(
  path: string,
  { filter, repeat }: EvalSettings,
  resumed: EvalRun | undefined,
): Promise<EvalSet> {
  try {
    const set = await loadEvalSet(path);
    return resumed ? selectSameCases(set, resumed.set) : selectCases(set, { filter, repeat });
  } catch (error) {
    if (AgentError.is(error)) throw new UsageError(error.message);
    throw error;
  }
}

/** Dependencies of an evaluation. */
export interface EvaluationDependencies {
  /** Aborts the evaluation. */
  readonly interrupt: InterruptHandler;
  /** Terminal, environment and network. */
  readonly host: Host;
  /** The set as the user named it, for advice. */
  readonly setPath: string;
}

/**
 * Runs a set with each model, one after the other.
 *
 * @throws {ConfigurationError} If no model is configured, or a provider rejects the key or the model.
 */
export async function evaluate(
  set: EvalSet,
  settings: EvalSettings,
  dependencies: EvaluationDependencies,
): Promise<EvalRun[]> {
  const models = await chooseModels(settings, dependencies.host);
  if (settings.replay !== undefined) checkRecordings(settings.replay, models);
  // An unknown provider is found before the first model is paid for.
  await getProviders(models, { ...settings.run, needsKey: false }, dependencies.host);
  const runs: EvalRun[] = [];
  for (const model of models) {
    if (dependencies.interrupt.signal.aborted) break;
    runs.push(await evaluateModel(set, { settings, model, ...dependencies }));
  }
  return runs;
}

async function chooseModels(settings: EvalSettings, host: Host): Promise<readonly ModelSpec[]> {
  const { models, replay } = settings;
  if (models.length > 0) return models;
  const recorded = replay === undefined ? [] : await findRecordedModels(replay);
  if (recorded.length > 0) return recorded;
  return [await chooseModel(settings.run, host)];
}

interface ModelEvaluation extends EvaluationDependencies {
  readonly settings: EvalSettings;
  readonly model: ModelSpec;
}

async function evaluateModel(set: EvalSet, evaluation: ModelEvaluation): Promise<EvalRun> {
  const { settings, model, host, interrupt } = evaluation;
  const evaluators = await createEvaluators(set, settings, host);
  const writer = await openWriter(set, evaluation);
  const stop = new AbortController();
  let hasResults = writer.finished.length > 0;
  let failure: AgentError | undefined;
  const onError = (error: AgentError) => {
    if (!CONFIGURATION_ERRORS.includes(error.code)) return;
    failure ??= error;
    stop.abort(error);
  };
  const signal = AbortSignal.any([stop.signal, interrupt.signal]);
  await using progress = new EvalProgress({
    total: countRuns(set, settings),
    finished: writer.finished,
  }, host);
  const onStart = (
    request: { readonly evalCase: { readonly id: string }; readonly repetition: number },
  ) => progress.start({ caseId: request.evalCase.id, repetition: request.repetition });
  await runEvalSet(set, createMakeAgent({ settings, model, signal, onStart, onError }, host), {
    ...getRunOptions(settings, model, host),
    evaluators,
    signal,
    finished: writer.finished,
    omitCalls: true,
    onResult: async (result: CaseResult) => {
      // What failed because of the key is no result of the model.
      if (!stop.signal.aborted) {
        await writer.append(result);
        hasResults ||= result.outcome !== "skipped";
      }
      await progress.finish(result);
    },
  });
  if (failure) {
    if (!hasResults) await Deno.remove(writer.directory, { recursive: true });
    throw createRejection(failure, model);
  }
  return await writer.finish();
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
  { fetch, now }: Host,
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
  };
}

async function openWriter(
  set: EvalSet,
  { settings, model, host }: ModelEvaluation,
): Promise<EvalRunWriter> {
  const { resume, results, seed, seeds } = settings;
  try {
    if (resume !== undefined) {
      return await resumeEvalRun(await findRunDirectory(resume, results), { set, now: host.now });
    }
    const name = `${model.provider}/${model.modelId}`;
    const directory = await openResults(results, { set, model, now: host.now() });
    return await createEvalRun(directory, { set, model: name, seed, seeds, now: host.now });
  } catch (error) {
    if (AgentError.is(error)) throw new UsageError(error.message);
    throw error;
  }
}

/** Prints the results, writes the reports, and returns the exit code. */
async function reportRuns(
  runs: readonly EvalRun[],
  settings: EvalSettings,
  { interrupt, host, setPath }: EvaluationDependencies,
): Promise<ExitCode> {
  const { output, messages } = host.terminal;
  const { results, reports } = settings;
  await output.write(formatRuns(runs, getTableOptions(host)));
  for (const run of runs) {
    const files = runs.length > 1 ? addModelName(reports, getFileName(run)) : reports;
    const written = await writeReports(run, files, { history: await readHistory(run, results) });
    const paths = [join(results, run.id), ...written].map((path) => toPlainText(path));
    await messages.write(`\nResults: ${paths.join("\n         ")}\n`);
  }
  const interrupted = runs.find(({ results: made, planned }) => made.length < planned);
  if (!interrupted) {
    const hasFailures = runs.length === 0 || runs.some((run) => summarizeRun(run).failed > 0);
    return hasFailures ? ExitCode.failed : ExitCode.ok;
  }
  await messages.write(
    `Interrupted; continue with: swink eval run ${setPath} --resume ${interrupted.id}\n`,
  );
  return interrupt.exitCode ?? ExitCode.failed;
}

function getFileName({ model = "" }: EvalRun): string {
  return model.slice(model.indexOf("/") + 1).replaceAll(/[^A-Za-z0-9._-]+/g, "-");
}
