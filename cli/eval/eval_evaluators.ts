/**
 * The evaluators of an evaluation.
 *
 * @module
 */

import { prices } from "../../adapters/catalog/catalog.ts";
import { connect } from "../../adapters/connect.ts";
import { Agent, type ModelSpec } from "../../mod.ts";
import { AgentError } from "../../src/core/errors/errors.ts";
import {
  createJudgeEvaluator,
  type EvalCase,
  type EvalSet,
  EvaluatorRegistry,
  type JudgeModel,
  type JudgeTopic,
  LruJudgeCache,
} from "../../src/eval/mod.ts";
import { createSandbox } from "../../src/tools/sandbox/local_sandbox.ts";
import { ConfigurationError, UsageError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import { withLocalProvider } from "../run/model/local_models.ts";
import { getProviders } from "../run/model/provider_options.ts";
import { createRetryStrategy } from "../run/model/retry_strategy.ts";
import type { EvalSettings } from "./eval_settings.ts";
import { findModelUrl, getModelDirectory } from "./model_directories.ts";

const TOPICS: readonly JudgeTopic[] = ["correctness", "faithfulness", "tool_use", "safety"];

/** The settings of an evaluation, and its model. */
export interface EvaluatorSettings {
  /** The settings. */
  readonly settings: EvalSettings;
  /** The model that is evaluated. */
  readonly model: ModelSpec;
  /** Called with each error of the model of the judge. */
  readonly onError: (error: AgentError) => void;
}

/**
 * Creates the evaluators. Commands run in the sandbox of `swink run`, and judges with the selected model.
 *
 * @throws {UsageError} If a case names an unknown evaluator or option.
 * @throws {ConfigurationError} If a case names a judge, and none has a model.
 */
export async function createEvaluators(
  set: EvalSet,
  { settings, model: evaluated, onError }: EvaluatorSettings,
  host: Host,
): Promise<EvaluatorRegistry> {
  const { judge, run: { net, sandbox: confinement, environment, passEnvironment } } = settings;
  const evaluators = EvaluatorRegistry.createDefault({
    openSandbox: ({ cwd }) =>
      createSandbox({ cwd, net, confinement, environment, passEnvironment }),
  });
  if (judge) {
    const model = await createJudge(judge, { settings, model: evaluated, onError }, host);
    const cache = new LruJudgeCache();
    for (const topic of TOPICS) evaluators.register(createJudgeEvaluator(topic, { model, cache }));
  }
  checkEvaluators(set, evaluators);
  return evaluators;
}

async function createJudge(
  model: ModelSpec,
  { settings: { replay, run: { providers, baseUrl } }, model: evaluated, onError }:
    EvaluatorSettings,
  host: Host,
): Promise<JudgeModel> {
  const recordedUrl = replay === undefined
    ? undefined
    : findModelUrl(getModelDirectory(replay, evaluated), model.provider);
  // The base URL is that of the provider of the evaluated model.
  const url = recordedUrl ?? (model.provider === evaluated.provider ? baseUrl : undefined);
  const selection = {
    needsKey: replay === undefined,
    ...(providers && { providers }),
    ...(url !== undefined && { baseUrl: url }),
  };
  const options = await getProviders([model], selection, host);
  return {
    name: `${model.provider}/${model.modelId}`,
    ask: async (prompt, { fetch, signal }) => {
      const streamFn = connect({
        fetch,
        env: host.env,
        providers: withLocalProvider(options, host),
      });
      const retry = createRetryStrategy({ isReplay: replay !== undefined });
      const agent = new Agent({ model, streamFn, prices, retry });
      const { text, cost, error } = await agent.prompt(prompt, { signal });
      if (error) {
        onError(error);
        throw error;
      }
      return { text, cost: cost.total };
    },
  };
}

function checkEvaluators({ cases }: EvalSet, registry: EvaluatorRegistry): void {
  const { names } = registry;
  for (const evalCase of cases) {
    const { id, evaluators = [] } = evalCase;
    const unknown = evaluators.find(({ name }) => !names.includes(name));
    if (!unknown) {
      checkOptions(evalCase, registry);
      continue;
    }
    const message = `The case ${id} has the evaluator ${JSON.stringify(unknown.name)}`;
    if (TOPICS.some((topic) => topic === unknown.name)) {
      throw new ConfigurationError(
        `${message}, which needs a model`,
        "Select one with --judge provider/model.",
      );
    }
    throw new UsageError(`${message}, which does not exist`, `Known: ${names.join(", ")}`);
  }
}

function checkOptions(evalCase: EvalCase, registry: EvaluatorRegistry): void {
  try {
    registry.checkCase(evalCase);
  } catch (error) {
    if (!AgentError.is(error)) throw error;
    throw new UsageError(`The case ${evalCase.id}: ${error.message}`);
  }
}
