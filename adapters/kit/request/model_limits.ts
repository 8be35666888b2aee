/**
 * Restriction of request options to what a model supports.
 *
 * @module
 */

import type { ModelSpec } from "../../../src/core/model.ts";
import type { StreamOptions } from "../../../src/core/stream.ts";
import type { CatalogEntry } from "../../catalog/catalog_entry.ts";
import type { WarningSink } from "./warnings.ts";

/** Returns the temperature of a request. Omits it with a warning for a model that does not support one. */
export function resolveTemperature(
  { temperature }: StreamOptions,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): number | undefined {
  if (temperature === undefined || entry?.temperature !== false) return temperature;
  sink.warning("temperature_left_out", "The model does not support a temperature");
  return undefined;
}

/** Returns `maxTokens` of a request. Lowers it to the limit of the model with a warning. */
export function resolveMaxTokens(
  { maxTokens }: StreamOptions,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): number | undefined {
  if (maxTokens === undefined || entry === undefined || maxTokens <= entry.maxOutput) {
    return maxTokens;
  }
  sink.warning(
    "max_tokens_lowered",
    `maxTokens was lowered to ${entry.maxOutput}, the limit of the model`,
  );
  return entry.maxOutput;
}

/** Warns when a thinking level is requested from a model whose reasoning cannot be controlled. */
export function warnUnsupportedThinking(
  { modelId, thinkingLevel }: ModelSpec,
  entry: Pick<CatalogEntry, "thinking"> | undefined,
  sink: WarningSink,
): void {
  if (thinkingLevel === "off" || entry?.thinking.type !== "none") return;
  sink.warning("thinking_left_out", `The thinking level of ${modelId} cannot be set`);
}
