/**
 * The action of `swink eval patch`.
 *
 * @module
 */

import type { ModelSpec } from "../../mod.ts";
import {
  createPatchEvaluation,
  loadPatchTasks,
  type PatchEvaluation,
  type PatchTask,
  PredictionsFile,
} from "../../src/eval/mod.ts";
import { createSandbox } from "../../src/tools/sandbox/local_sandbox.ts";
import type { GivenOptions } from "../command_line/definition.ts";
import type { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { formatModel } from "../render/format_model.ts";
import { selectTerminal } from "../run/select_terminal.ts";
import { resolveNewFile, resolvePath } from "../run/settings/resolve_path.ts";
import type { RunSettings } from "../run/settings/settings.ts";
import { createDefaultOptions } from "../settings/default_options.ts";
import { EVAL_RUN_OPTIONS, type EvalPatchOptions } from "../settings/eval_options.ts";
import { evaluate, type Evaluation, selectModels } from "./evaluate_models.ts";
import { addToFileName, getModelFileName } from "./model_file_name.ts";
import { openEvaluation, readUserFiles } from "./open_evaluation.ts";
import { reportRuns } from "./report_runs.ts";
import { formatResumedCommand } from "./resumed_command.ts";
import { selectCases, selectSameCases } from "./select_cases.ts";

/** Lets an agent work on each task with each model, writes the patches, and grades them. */
export async function runPatchTasks(
  path: string,
  { options, given }: GivenOptions<EvalPatchOptions>,
  systemHost: Host,
): Promise<ExitCode> {
  using interrupt = new InterruptHandler(systemHost);
  const host = selectTerminal(systemHost, options);
  const { predictions, noGrade, ...shared } = options;
  const predictionsFile = predictions === undefined
    ? undefined
    : resolveNewFile("--predictions", predictions);
  const commandLine = {
    options: { ...createDefaultOptions(EVAL_RUN_OPTIONS), ...shared },
    given,
  };
  const { settings, resumed } = await openEvaluation(commandLine, interrupt.signal, host);
  const models = selectModels(settings.models, settings.run).map(formatModel);
  const patches: PatchSettings = {
    tasks: await readUserFiles(() => loadPatchTasks(resolvePath(path))),
    run: settings.run,
    models,
    predictionsFile,
    isGraded: !noGrade,
  };
  // The tasks are the same with each model.
  const { set } = createEvaluation({ provider: "", modelId: "", thinkingLevel: "off" }, patches);
  const evaluation: Evaluation = {
    set: resumed ? selectSameCases(set, resumed.set) : selectCases(set, settings),
    prepare: (model) => prepareModel(model, patches),
  };
  // The resumed evaluation is that of one model, and has the predictions of this model.
  const formatCommand = (model: string) =>
    formatResumedCommand("swink eval patch", path, {
      options: { ...options, predictions: addModelName(predictions, model, models) },
      given,
    });
  const dependencies = { interrupt, host, formatCommand };
  const evaluated = await evaluate(evaluation, settings, dependencies);
  return await reportRuns(evaluated, settings, dependencies);
}

/** The settings that the evaluations with all models have in common. */
interface PatchSettings {
  readonly tasks: readonly PatchTask[];
  /** The settings of the agents. */
  readonly run: RunSettings;
  /** Names of the models. */
  readonly models: readonly string[];
  /** Absolute path of the file for the patches, before the name of a model is added. */
  readonly predictionsFile: string | undefined;
  /** Whether the tests of the tasks run. */
  readonly isGraded: boolean;
}

function createEvaluation(
  model: ModelSpec,
  { tasks, run, models, predictionsFile, isGraded }: PatchSettings,
): PatchEvaluation {
  const { net, sandbox: confinement, environment, passEnvironment } = run;
  return createPatchEvaluation(tasks, {
    modelName: getPredictedModel(model),
    predictionsFile: addModelName(predictionsFile, formatModel(model), models),
    ...(isGraded && {
      openSandbox: ({ cwd }: { readonly cwd: string }) =>
        createSandbox({ cwd, net, confinement, environment, passEnvironment }),
    }),
  });
}

/** Checks the file for the patches of a model before a task is paid for, and returns what its runs need. */
async function prepareModel(
  model: ModelSpec,
  patches: PatchSettings,
): ReturnType<Evaluation["prepare"]> {
  const path = addModelName(patches.predictionsFile, formatModel(model), patches.models);
  if (path !== undefined) {
    const modelName = getPredictedModel(model);
    await readUserFiles(() => new PredictionsFile(path, { modelName }).open());
  }
  const { set: _set, ...prepared } = createEvaluation(model, patches);
  return prepared;
}

/** Returns the name of a model in its predictions. */
function getPredictedModel(model: ModelSpec): string {
  return `swink ${formatModel(model)}`;
}

/** Adds the name of a model to that of a file if there are several, since a harness reads one prediction of each task. */
function addModelName(
  file: string | undefined,
  model: string,
  models: readonly string[],
): string | undefined {
  return file !== undefined && models.length > 1
    ? addToFileName(file, getModelFileName(model, models))
    : file;
}
