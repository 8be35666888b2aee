/**
 * Runs tasks as the cases of an evaluation.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { DirectorySnapshot } from "../../patch/directory_snapshot.ts";
import type { EvalBudget, EvalCase, EvalSet } from "../case/eval_case.ts";
import type { EvalFiles } from "../case/eval_files.ts";
import type { OpenCommandSandbox } from "../command/command_sandbox.ts";
import type { EvalContext, Evaluator } from "../evaluators/evaluator.ts";
import { EvaluatorRegistry } from "../evaluators/evaluator_registry.ts";
import { createBinaryScore, type Score } from "../evaluators/score.ts";
import {
  type CaseDirectory,
  type CreateCaseDirectory,
  createLocalDirectory,
} from "../run/case_directory.ts";
import { hasWorked } from "../trajectory/has_worked.ts";
import { checkOutTask } from "./check_out_task.ts";
import { gradePatch } from "./grade_patch.ts";
import type { PatchPrediction, PatchTask } from "./patch_task.ts";
import { PredictionsFile } from "./predictions_file.ts";

/** Options for `createPatchEvaluation()`. */
export interface PatchEvaluationOptions {
  /** Name of the model or of the agent in the predictions. */
  readonly modelName: string;
  /**
   * File for the predictions, one of each task: a new one replaces that of an earlier evaluation with the same
   * `modelName`. A file with those of another name fails the runs before they start. Default: none.
   */
  readonly predictionsFile?: string | undefined;
  /**
   * Opens the sandbox of the tests that grade a patch, such as `createSandbox` of `@swink/agent/tools`. Default: patches
   * are not graded: they pass if they are not empty, with the metric `patch_not_graded` instead of `patch`.
   */
  readonly openSandbox?: OpenCommandSandbox | undefined;
  /** Limits of each run. Default: none. */
  readonly budget?: EvalBudget | undefined;
  /** Returns the prompt of a task. Default: the issue after a request to resolve it. */
  readonly createPrompt?: ((task: PatchTask) => string) | undefined;
  /** Id of the set. Default: `patch-tasks`. */
  readonly setId?: string | undefined;
  /** File access for predictions. Default: the file system. */
  readonly files?: EvalFiles | undefined;
}

/** The parts of an evaluation of tasks, for `runEvalSet()`. */
export interface PatchEvaluation {
  /** A set with a case for each task. */
  readonly set: EvalSet;
  /** Checks the tasks out; for the option of this name. */
  readonly createDirectory: CreateCaseDirectory;
  /** Writes the predictions and grades them; for the option of this name. */
  readonly evaluators: EvaluatorRegistry;
}

/** The metric of a patch. */
const METRIC = "patch";

/** The metric of a patch that is not graded: compared with graded ones, it would show that all were solved. */
const UNGRADED_METRIC = "patch_not_graded";

/**
 * Creates an evaluation in which an agent works on each task in a checkout of its commit, without the history after it. The
 * changes that it makes become a prediction, and are graded by the tests of the task in another checkout.
 *
 * @example
 * ```ts ignore
 * import { createPatchEvaluation, loadPatchTasks, runEvalSet } from "@swink/agent/eval";
 * import { createSandbox } from "@swink/agent/tools";
 *
 * const { set, ...evaluation } = createPatchEvaluation(await loadPatchTasks("tasks.jsonl"), {
 *   modelName: "anthropic/claude-sonnet-5-5",
 *   predictionsFile: "predictions.jsonl",
 *   openSandbox: createSandbox,
 * });
 * const { results } = await runEvalSet(set, makeAgent, { ...evaluation, parallel: 4 });
 * ```
 */
export function createPatchEvaluation(
  tasks: readonly PatchTask[],
  options: PatchEvaluationOptions,
): PatchEvaluation {
  const { setId = "patch-tasks", budget, createPrompt = createDefaultPrompt } = options;
  const known = new Map(tasks.map((task) => [task.instanceId, task]));
  const { predictionsFile } = options;
  const predictions = predictionsFile === undefined
    ? undefined
    : new PredictionsFile(predictionsFile, options);
  const checkouts = new Map<string, DirectorySnapshot>();
  const evaluators = new EvaluatorRegistry();
  evaluators.register(createPatchEvaluator({ tasks: known, checkouts, predictions, options }), {
    isDefault: true,
  });
  const cases = tasks.map((task): EvalCase => ({
    id: task.instanceId,
    userMessages: [createPrompt(task)],
    fixture: task.instanceId,
    // Results of another commit or of other tests are not those of the case.
    evaluators: [{ name: METRIC, options: listGradingParts(task) }],
    ...(budget && { budget }),
  }));
  return {
    set: { id: setId, cases },
    createDirectory: async (instanceId, directoryOptions) => {
      const task = known.get(instanceId ?? "");
      if (!task) throw new BadRequestError(`There is no task "${instanceId}"`);
      await predictions?.open();
      const create = () => createLocalDirectory(undefined, directoryOptions);
      return await createCheckout(task, checkouts, create);
    },
    evaluators,
  };
}

/** Returns the parts of a task that decide about its grade, and that the prompt does not have. */
function listGradingParts(
  { baseCommit, testCommand, testPatch, testFiles }: PatchTask,
): JsonObject {
  return {
    baseCommit,
    testCommand,
    ...(testPatch !== undefined && { testPatch }),
    ...(testFiles && { testFiles: [...testFiles] }),
  };
}

function createDefaultPrompt({ problemStatement }: PatchTask): string {
  return "Resolve this issue in the repository of the working directory. Change the code, and not only its tests." +
    `\n\n<issue>\n${problemStatement}\n</issue>`;
}

async function createCheckout(
  task: PatchTask,
  checkouts: Map<string, DirectorySnapshot>,
  createDirectory: () => Promise<CaseDirectory>,
): Promise<CaseDirectory> {
  const directory = await createDirectory();
  const { path } = directory;
  const remove = async () => {
    checkouts.get(path)?.[Symbol.dispose]();
    checkouts.delete(path);
    await directory.remove();
  };
  try {
    await checkOutTask(task, path);
    checkouts.set(path, await DirectorySnapshot.take(path));
    return { path, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

interface PatchEvaluatorParts {
  readonly tasks: ReadonlyMap<string, PatchTask>;
  readonly checkouts: ReadonlyMap<string, DirectorySnapshot>;
  readonly predictions: PredictionsFile | undefined;
  readonly options: PatchEvaluationOptions;
}

function createPatchEvaluator(
  { tasks, checkouts, predictions, options }: PatchEvaluatorParts,
): Evaluator {
  return {
    name: METRIC,
    // The tests of a task have a limit.
    timeoutMs: Infinity,
    evaluate: async (context) => {
      const task = tasks.get(context.evalCase.id);
      const snapshot = checkouts.get(context.directory ?? "");
      if (!task || !snapshot) throw new BadRequestError("The task was not checked out");
      const { bytes, omittedFiles } = await snapshot.createPatch({ asText: true });
      const patch = new TextDecoder().decode(bytes);
      const prediction: PatchPrediction = {
        instance_id: task.instanceId,
        model_name_or_path: options.modelName,
        model_patch: patch,
      };
      // A model that cannot be reached, or an agent that cannot be created, predicts nothing.
      const replaces = patch !== "" || hasWorked(context.trajectory);
      await predictions?.write(prediction, { replaces });
      const score = await scorePatch(task, patch, { ...context, ...options });
      return omittedFiles.length === 0 ? score : addReason(score, omittedFiles);
    },
  };
}

async function scorePatch(
  task: PatchTask,
  patch: string,
  { openSandbox, signal }:
    & Pick<PatchEvaluationOptions, "openSandbox">
    & Pick<EvalContext, "signal">,
): Promise<Score> {
  if (!openSandbox) {
    const isEmpty = patch === "";
    return createBinaryScore(UNGRADED_METRIC, !isEmpty, isEmpty ? "empty" : "not graded");
  }
  const { type, details } = await gradePatch(task, patch, { openSandbox, signal });
  const reason = details === "" ? type : `${type}: ${details}`;
  return createBinaryScore(METRIC, type === "resolved", reason);
}

function addReason(score: Score, omittedFiles: readonly string[]): Score {
  const omitted = `omitted from the patch: ${omittedFiles.join(", ")}`;
  return { ...score, reason: score.reason === undefined ? omitted : `${score.reason}; ${omitted}` };
}
