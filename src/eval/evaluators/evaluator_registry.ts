/**
 * Evaluators by name.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { isThenable, refusePromise } from "../../core/errors/refuse_promise.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { MAX_TIMER_MS } from "../../core/ports/ports.ts";
import type { EvalCase, EvaluatorConfig } from "../case/eval_case.ts";
import type { OpenCommandSandbox } from "../command/command_sandbox.ts";
import { createBudgetEvaluator } from "./budget_evaluator.ts";
import { createCommandEvaluator } from "./command_evaluator.ts";
import { createEfficiencyEvaluator } from "./efficiency_evaluator.ts";
import type { EvalContext, Evaluator } from "./evaluator.ts";
import { createFilesEvaluator } from "./files_evaluator.ts";
import { createResponseEvaluator } from "./response_evaluator.ts";
import { createBinaryScore, type Score } from "./score.ts";
import { settleAfterAbort } from "./settle_after_abort.ts";
import { createTrajectoryEvaluator } from "./trajectory_evaluator.ts";

/** Time of an evaluator without a limit of its own: one that hangs must not hang the evaluation. */
const DEFAULT_TIMEOUT_MS = 600_000;

/** The metric of a case that no evaluator applies to. */
const NO_METRIC = "no_metric";

/** Options for `EvaluatorRegistry.createDefault()`. */
export interface DefaultEvaluatorOptions {
  /**
   * Opens the sandbox of the evaluator `command`, such as `createSandbox` of `@swink/agent/tools`. Default: none, and the
   * metric fails.
   */
  readonly openSandbox?: OpenCommandSandbox | undefined;
}

/**
 * Evaluators by name. The evaluators for expectations (`trajectory`, `response`, `files`, `budget`) run for each case; the other
 * ones run for cases that name them.
 */
export class EvaluatorRegistry {
  readonly #evaluators = new Map<string, Evaluator>();
  readonly #defaults = new Set<string>();

  /** Creates a registry with the evaluators of this module. */
  static createDefault(options: DefaultEvaluatorOptions = {}): EvaluatorRegistry {
    checkNames(options, ["openSandbox"], "EvaluatorRegistry.createDefault()");
    const registry = new EvaluatorRegistry();
    registry.register(createTrajectoryEvaluator(), { isDefault: true });
    registry.register(createResponseEvaluator(), { isDefault: true });
    registry.register(createFilesEvaluator(), { isDefault: true });
    registry.register(createBudgetEvaluator(), { isDefault: true });
    registry.register(createEfficiencyEvaluator());
    registry.register(createCommandEvaluator(options.openSandbox));
    return registry;
  }

  /**
   * Adds an evaluator. With `isDefault` it runs for each case, otherwise for those that name it.
   *
   * @throws {BadRequestError} If there is another one with its name, or its `timeoutMs` is not above 0.
   */
  register(
    evaluator: Evaluator,
    { isDefault = false }: { readonly isDefault?: boolean } = {},
  ): void {
    const { name } = evaluator;
    if (this.#evaluators.has(name)) {
      throw new BadRequestError(`There is already an evaluator "${name}"`);
    }
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = evaluator;
    if (!(timeoutMs > 0)) {
      throw new BadRequestError(
        `The timeoutMs of the evaluator "${name}" must be above 0, not ${describeValue(timeoutMs)}`,
      );
    }
    this.#evaluators.set(name, evaluator);
    if (isDefault) this.#defaults.add(name);
  }

  /** Names of the evaluators, sorted. */
  get names(): readonly string[] {
    return [...this.#evaluators.keys()].sort();
  }

  /**
   * Checks that the evaluators of a case exist, and have the options that it names with their values, before it is run.
   *
   * @throws {BadRequestError} If not; the message suggests a similar option.
   */
  checkCase({ id, evaluators = [] }: EvalCase): void {
    for (const { name, options = {} } of evaluators) {
      const evaluator = this.#evaluators.get(name);
      if (!evaluator) {
        const known = this.names.join(", ");
        throw new BadRequestError(
          `The case "${id}" has an unknown evaluator, "${name}": known are ${known}`,
        );
      }
      checkOptions(evaluator, options);
      checkValues(evaluator, options);
    }
  }

  /** Whether an evaluator of a case needs the directory of the run. */
  needsDirectory({ expectedFiles, evaluators = [] }: EvalCase): boolean {
    return expectedFiles !== undefined ||
      evaluators.some(({ name }) => this.#evaluators.get(name)?.needsDirectory === true);
  }

  /**
   * Scores the run of a case. An evaluator that throws, is unknown, takes too long, or returns an invalid score, fails
   * its metric only. A case to which no evaluator applies fails.
   */
  async evaluate(context: Omit<EvalContext, "options">): Promise<Score[]> {
    const scores: Score[] = [];
    for (const selected of this.#select(context.evalCase)) {
      const score = await this.#score(selected, context);
      if (score) scores.push(withUniqueMetric(score, scores));
    }
    if (scores.length > 0) return scores;
    return [createBinaryScore(NO_METRIC, false, "No evaluator applies to the case")];
  }

  /** Returns the default evaluators that the case does not configure, then those that it names. */
  #select({ evaluators = [] }: EvalCase): readonly EvaluatorConfig[] {
    const named = new Set(evaluators.map(({ name }) => name));
    const defaults = [...this.#defaults].filter((name) => !named.has(name));
    return [...defaults.map((name) => ({ name })), ...evaluators];
  }

  async #score(
    { name, metric, weight, options = {} }: EvaluatorConfig,
    context: Omit<EvalContext, "options">,
  ): Promise<Score | undefined> {
    const score = await this.#evaluate(name, { ...context, options });
    return score &&
      {
        ...score,
        ...(metric !== undefined && { metric }),
        ...(weight !== undefined && { weight }),
      };
  }

  async #evaluate(name: string, context: EvalContext): Promise<Score | undefined> {
    const evaluator = this.#evaluators.get(name);
    if (!evaluator) {
      const known = this.names.join(", ");
      return createBinaryScore(name, false, `Unknown evaluator; known are ${known}`);
    }
    try {
      checkOptions(evaluator, context.options);
      const returned = evaluator.evaluate(context);
      const score = isThenable(returned)
        ? await settleInTime(Promise.resolve(returned), { evaluator, signal: context.signal })
        : returned;
      return score === undefined ? undefined : copyScore(score);
    } catch (error) {
      return createBinaryScore(name, false, `The evaluator failed: ${getErrorMessage(error)}`);
    }
  }
}

/** Settles like the promise, or rejects when the time of the evaluator is over; a later rejection is ignored. */
async function settleInTime<Value>(
  promise: Promise<Value>,
  { evaluator: { timeoutMs = DEFAULT_TIMEOUT_MS }, signal }: SettleOptions,
): Promise<Value> {
  if (!signal.aborted && await settlesAtOnce(promise)) return await promise;
  const { promise: timeout, reject } = createDeferred<never>();
  const timer = setTimeout(
    () => reject(new Error(`it did not end within ${timeoutMs} ms`)),
    Math.min(timeoutMs, MAX_TIMER_MS),
  );
  try {
    return await Promise.race([settleAfterAbort(promise, signal), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

interface SettleOptions {
  readonly evaluator: Evaluator;
  /** Aborted when the evaluation is cancelled. */
  readonly signal: AbortSignal;
}

/** Steps of a function that awaits no timer, file or request. */
const MAX_STEPS = 50;

/**
 * Whether a promise settles without a timer, a file or a request, as those of most evaluators do: a timer and a listener
 * for each of them would take longer than their comparisons.
 */
async function settlesAtOnce(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  for (let step = 0; step < MAX_STEPS && !isSettled; step++) await undefined;
  return isSettled;
}

/** A misspelled option, such as a threshold, would have no effect. */
function checkOptions({ name, optionNames }: Evaluator, options: JsonObject): void {
  if (optionNames) checkNames(options, optionNames, `the evaluator "${name}"`);
}

/** Checks the values of options, as far as an evaluator can do it without a run. */
function checkValues(evaluator: Evaluator, options: JsonObject): void {
  try {
    const returned: unknown = evaluator.checkOptions?.(options);
    refusePromise(returned, "checkOptions()");
  } catch (cause) {
    const reason = getErrorMessage(cause);
    throw new BadRequestError(`The evaluator "${evaluator.name}": ${reason}`, { cause });
  }
}

/** Returns a valid score with the known properties only, since it is stored as JSON. */
function copyScore(score: unknown): Score {
  // Only `undefined` means that the evaluator does not apply: false, 0 and NaN are wrong scores.
  if (!isJsonObject(score)) {
    throw new TypeError(`The evaluator returned ${describeValue(score)} instead of a score`);
  }
  const { metric, value, passed, reason, rawValue, weight, cost } = score;
  if (typeof metric !== "string" || typeof passed !== "boolean") {
    throw new TypeError(
      "The score needs a metric, which is a text, and passed, which is a boolean",
    );
  }
  if (typeof value !== "number" || !(value >= 0 && value <= 1)) {
    throw new RangeError(`The score ${describeValue(value)} is not a number between 0 and 1`);
  }
  return {
    metric,
    value,
    passed,
    ...(reason !== undefined && { reason: String(reason) }),
    ...(isNumber(rawValue) && { rawValue }),
    ...(isNumber(weight) && weight > 0 && { weight }),
    // A cost that is no amount is unknown; a negative one would hide that of other runs.
    ...(cost !== undefined && { cost: isNumber(cost) && cost >= 0 ? cost : null }),
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** Adds a number to the metric of a score if another one has it. */
function withUniqueMetric(score: Score, others: readonly Score[]): Score {
  const isUsed = (metric: string) => others.some((other) => other.metric === metric);
  if (!isUsed(score.metric)) return score;
  let number = 2;
  while (isUsed(`${score.metric}_${number}`)) number++;
  return { ...score, metric: `${score.metric}_${number}` };
}
