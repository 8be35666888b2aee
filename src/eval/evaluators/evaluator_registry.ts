/**
 * Evaluators by name.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { createBudgetEvaluator } from "./budget_evaluator.ts";
import { createEfficiencyEvaluator } from "./efficiency_evaluator.ts";
import type { EvalContext, Evaluator } from "./evaluator.ts";
import { createFilesEvaluator } from "./files_evaluator.ts";
import { createResponseEvaluator } from "./response_evaluator.ts";
import { createBinaryScore, type Score } from "./score.ts";
import { createTrajectoryEvaluator } from "./trajectory_evaluator.ts";

/** The metric of a case that no evaluator applies to. */
const NO_METRIC = "no_metric";

/**
 * Evaluators by name. The evaluators for expectations (`trajectory`, `response`, `files`, `budget`) run for each case; the other
 * ones run for cases that name them.
 */
export class EvaluatorRegistry {
  readonly #evaluators = new Map<string, Evaluator>();
  readonly #defaults = new Set<string>();

  /** Creates a registry with the evaluators of this module. */
  static createDefault(): EvaluatorRegistry {
    const registry = new EvaluatorRegistry();
    registry.register(createTrajectoryEvaluator(), { isDefault: true });
    registry.register(createResponseEvaluator(), { isDefault: true });
    registry.register(createFilesEvaluator(), { isDefault: true });
    registry.register(createBudgetEvaluator(), { isDefault: true });
    registry.register(createEfficiencyEvaluator());
    return registry;
  }

  /**
   * Adds an evaluator. With `isDefault` it runs for each case, otherwise for those that name it.
   *
   * @throws {BadRequestError} If there is another one with its name.
   */
  register(
    evaluator: Evaluator,
    { isDefault = false }: { readonly isDefault?: boolean } = {},
  ): void {
    const { name } = evaluator;
    if (this.#evaluators.has(name)) {
      throw new BadRequestError(`There is already an evaluator "${name}"`);
    }
    this.#evaluators.set(name, evaluator);
    if (isDefault) this.#defaults.add(name);
  }

  /** Names of the evaluators, sorted. */
  get names(): readonly string[] {
    return [...this.#evaluators.keys()].sort();
  }

  /**
   * Scores the run of a case. An evaluator that throws, is unknown, or returns an invalid score, fails its metric only.
   * A case to which no evaluator applies fails.
   */
  async evaluate(context: Omit<EvalContext, "options">): Promise<Score[]> {
    const scores: Score[] = [];
    for (const [name, options] of this.#select(context)) {
      const score = await this.#score(name, { ...context, options });
      if (score) scores.push(score);
    }
    if (scores.length > 0) return scores;
    return [createBinaryScore(NO_METRIC, false, "No evaluator applies to the case")];
  }

  #select({ evalCase }: Omit<EvalContext, "options">): Map<string, JsonObject> {
    const selected = new Map<string, JsonObject>();
    for (const name of this.#defaults) selected.set(name, {});
    for (const { name, options } of evalCase.evaluators ?? []) selected.set(name, options ?? {});
    return selected;
  }

  async #score(name: string, context: EvalContext): Promise<Score | undefined> {
    const evaluator = this.#evaluators.get(name);
    if (!evaluator) {
      const known = this.names.join(", ");
      return createBinaryScore(name, false, `Unknown evaluator; known are ${known}`);
    }
    try {
      const score = await evaluator.evaluate(context);
      if (score && !(score.value >= 0 && score.value <= 1)) {
        throw new RangeError(`The score ${score.value} is not between 0 and 1`);
      }
      return score;
    } catch (error) {
      return createBinaryScore(name, false, `The evaluator failed: ${getErrorMessage(error)}`);
    }
  }
}
