/**
 * Models: which one is asked, how hard it thinks, and why it stopped.
 *
 * @module
 */

import { BadRequestError } from "./errors.ts";

/** Why a reply ended: naturally, at the token limit, for tools, cancelled, or failed. */
export type StopReason = "stop" | "length" | "tool_use" | "aborted" | "error";

/** How much a model reasons before it answers. */
export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "extra_high";

/** All thinking levels, from none to most. */
export const THINKING_LEVELS: readonly ThinkingLevel[] = [
  "off",
  "minimal",
  "low",
  "medium",
  "high",
  "extra_high",
];

/** Thinking budgets in tokens, by level, for providers that count reasoning in tokens. */
export type ThinkingBudgets = { readonly [level in ThinkingLevel]?: number };

/** The model that a request goes to. */
export interface ModelSpec {
  /** Name of the provider, for example `"anthropic"`. */
  readonly provider: string;
  /** The provider's name of the model, for example `"claude-sonnet-4-6"`. */
  readonly modelId: string;
  /** Reasoning depth. Default: `"off"`. */
  readonly thinkingLevel: ThinkingLevel;
  /** Overrides of the adapter's own token budgets. */
  readonly thinkingBudgets?: ThinkingBudgets;
}

/**
 * Reads a model name: `provider/model`, with an optional `:level` of thinking.
 *
 * A colon that is not followed by a thinking level belongs to the model's name (`ollama/llama3.2:1b`).
 *
 * @throws {BadRequestError} When the name has no provider or no model.
 *
 * @example
 * ```ts
 * import { modelSpec } from "@swink/agent";
 *
 * modelSpec("openai/gpt-5:high"); // { provider: "openai", modelId: "gpt-5", thinkingLevel: "high" }
 * ```
 */
export function modelSpec(model: string | ModelSpec): ModelSpec {
  if (typeof model !== "string") return model;
  const slash = model.indexOf("/");
  if (slash <= 0 || slash === model.length - 1) {
    throw new BadRequestError(
      `Cannot read the model "${model}": write it as provider/model, for example anthropic/claude-sonnet-4-6`,
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

/** Tells whether a text names a thinking level. */
export function isThinkingLevel(text: string): text is ThinkingLevel {
  return (THINKING_LEVELS as readonly string[]).includes(text);
}
