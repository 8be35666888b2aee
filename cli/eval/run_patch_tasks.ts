/**
 * The action of `swink eval patch`.
 *
 * @module
 */

import type { ModelSpec } from "../../mod.ts";
import {
  createPatchEvaluation,
  type EvalSet,
  loadPatchTasks,
  PredictionsFile,
} from "../../src/eval/mod.ts";
import { createSandbox } from "../../src/tools/sandbox/local_sandbox.ts";
import type { GivenOptions } from "../command_line/definition.ts";
import type { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { resolveNewFile, resolvePath } from "../run/resolve_path.ts";
import { selectTerminal } from "../run/select_terminal.ts";
import { createDefaultOptions } from "../settings/default_options.ts";
import { EVAL_RUN_OPTIONS, type EvalPatchOptions } from "../settings/eval_options.ts";
import { evaluate, selectModels } from "./evaluate_models.ts";
import { formatModel } from "../render/format_model.ts";
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
  const tasks = await readUserFiles(() => loadPatchTasks(resolvePath(path)));
  const { net, sandbox: confinement, environment, passEnvironment } = settings.run;
  const models = selectModels(settings.models, settings.run).map(formatModel);
  // A harness reads one prediction of each task.
  const addModel = (file: string | undefined, model: string) =>
    file !== undefined && models.length > 1
      ? addToFileName(file, getModelFileName(model, models))
      : file;
  const createOptions = (model: ModelSpec) => ({
    modelName: `swink ${formatModel(model)}`,
    predictionsFile: addModel(predictionsFile, formatModel(model)),
  });
  const createEvaluation = (model: ModelSpec) =>
    createPatchEvaluation(tasks, {
      ...createOptions(model),
      ...(!noGrade && {
        openSandbox: ({ cwd }: { readonly cwd: string }) =>
          createSandbox({ cwd, net, confinement, environment, passEnvironment }),
      }),
    });
  const select = (set: EvalSet) =>
    resumed ? selectSameCases(set, resumed.set) : selectCases(set, settings);
  const { set } = createEvaluation({ provider: "", modelId: "", thinkingLevel: "off" });
  const evaluation = {
    set: select(set),
    prepare: async (model: ModelSpec) => {
      const { modelName, predictionsFile: path } = createOptions(model);
      if (path !== undefined) {
        // Before a task is paid for.
        await readUserFiles(() => new PredictionsFile(path, { modelName }).open());
      }
      const { set: _set, ...prepared } = createEvaluation(model);
      return prepared;
    },
  };
  // The resumed evaluation is that of one model, and has the predictions of this model.
  const formatCommand = (model: string) =>
    formatResumedCommand("swink eval patch", path, {
      options: { ...options, predictions: addModel(predictions, model) },
      given,
    });
  const dependencies = { interrupt, host, formatCommand };
  const evaluated = await evaluate(evaluation, settings, dependencies);
  return await reportRuns(evaluated, settings, dependencies);
}
