/**
 * Models, thinking levels and stop reasons.
 *
 * @module
 */

import { createValueError } from "../checks/check_object.ts";
import { describeValue } from "../errors/describe_value.ts";
import { BadRequestError } from "../errors/errors.ts";

/**
 * The reason why a reply ended.
 *
 * `stop`: the model finished. `length`: the token limit was reached. `tool_use`: the model called tools. `aborted`: the
 * caller or a policy aborted the reply. `error`: the model call failed.
 */
export type StopReason = "stop" | "length" | "tool_use" | "aborted" | "error";

/** Amount of reasoning before the answer. */
export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "extra_high";

/** All thinking levels, in ascending order. */
export const THINKING_LEVELS: readonly ThinkingLevel[] = [
  "off",
  "minimal",
  "low",
  "medium",
  "high",
  "extra_high",
];

/** Thinking budgets in tokens by level, for providers that limit reasoning in tokens. */
export type ThinkingBudgets = { readonly [level in ThinkingLevel]?: number | undefined };

/** A model and its thinking level. */
export interface ModelSpec {
  /** Name of the provider, such as `"anthropic"`. */
  readonly provider: string;
  /** The provider's name of the model, such as `"claude-sonnet-5-5"`. */
  readonly modelId: string;
  /** Amount of reasoning. */
  readonly thinkingLevel: ThinkingLevel;
  /** Thinking budgets in tokens. Default: those of the adapter. */
  readonly thinkingBudgets?: ThinkingBudgets | undefined;
}

/**
 * Parses a model name of the form `provider/model` or `provider/model:level`. Default level: `"off"`.
 *
 * A colon that is not followed by a thinking level is part of the model name (`ollama/llama3.2:1b`). A `ModelSpec` is
 * returned unchanged.
 *
 * @throws {BadRequestError} If the provider or the model is missing, or the thinking level is invalid.
 *
 * @example
 * ```ts
 * import { modelSpec } from "@swink/agent";
 *
 * modelSpec("openai/gpt-6.2-sol:high"); // { provider: "openai", modelId: "gpt-6.2-sol", thinkingLevel: "high" }
 * ```
 */
export function modelSpec(model: string | ModelSpec): ModelSpec {
  if (typeof model !== "string") return checkModelSpec(model);
  const slash = model.indexOf("/");
  if (slash <= 0 || slash === model.length - 1) {
    throw new BadRequestError(
      `Cannot parse the model "${model}": write it as provider/model, such as anthropic/claude-sonnet-5-5`,
    );
  }
  const provider = model.slice(0, slash);
  const name = model.slice(slash + 1);
  const colon = name.lastIndexOf(":");
  const level = colon > 0 ? name.slice(colon + 1) : "";
  if (isThinkingLevel(level)) {
    return { provider, modelId: name.slice(0, colon), thinkingLevel: level };
  }
  return { provider, modelId: name, thinkingLevel: "off" };
}

/**
 * Returns a model specification unchanged.
 *
 * @throws {BadRequestError} If the provider, the model or the thinking level is missing or invalid.
 */
export function checkModelSpec(model: ModelSpec): ModelSpec {
  const { provider, modelId, thinkingLevel } = model ?? {};
  if (typeof provider !== "string" || typeof modelId !== "string" || !provider || !modelId) {
    throw new BadRequestError(
      `A model must have a provider and a modelId: pass modelSpec(${
        typeof model === "string" ? describeValue(model) : '"anthropic/claude-sonnet-5-5"'
      })`,
    );
  }
  if (!isThinkingLevel(thinkingLevel)) {
    const expectation = `The thinking level must be one of ${THINKING_LEVELS.join(", ")}`;
    throw createValueError(expectation, thinkingLevel);
  }
  return model;
}

/**
 * Whether a text is a thinking level.
 *
 * @example
 * ```ts
 * import { isThinkingLevel } from "@swink/agent";
 *
 * isThinkingLevel("high"); // true
 * isThinkingLevel("medium-high"); // false
 * ```
 */
export function isThinkingLevel(text: string): text is ThinkingLevel {
  return (THINKING_LEVELS as readonly string[]).includes(text);
}
