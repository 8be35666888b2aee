/**
 * The usage of a run by model.
 *
 * @module
 */

import type { ModelCallEndEvent } from "../../core/events/event.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import type { AgUiUsage } from "./ag_ui_event.ts";

/** Adds the usage of model calls up, by model. */
export class ModelUsage {
  readonly #usage = new Map<string, AgUiUsage>();

  /** The usage of each model, in the order of the first calls. */
  get list(): AgUiUsage[] {
    return [...this.#usage.values()];
  }

  /** Adds the usage of a call. */
  add({ model, usage }: ModelCallEndEvent): void {
    const name = formatModel(model);
    const known = this.#usage.get(name);
    const reasoning = usage.extra?.["reasoning"];
    const { input, output, cacheRead, cacheWrite, total } = usage;
    this.#usage.set(name, {
      provider: model.provider,
      model: model.modelId,
      inputTokens: (known?.inputTokens ?? 0) + input + cacheRead + cacheWrite,
      outputTokens: (known?.outputTokens ?? 0) + output,
      totalTokens: (known?.totalTokens ?? 0) + total,
      cachedInputTokens: (known?.cachedInputTokens ?? 0) + cacheRead,
      cacheWriteInputTokens: (known?.cacheWriteInputTokens ?? 0) + cacheWrite,
      ...((reasoning ?? known?.reasoningTokens) !== undefined && {
        reasoningTokens: (known?.reasoningTokens ?? 0) + (reasoning ?? 0),
      }),
    });
  }
}

/** Returns the name of a model with that of its provider. */
export function formatModel(
  { provider, modelId }: Pick<ModelSpec, "provider" | "modelId">,
): string {
  return `${provider}/${modelId}`;
}
