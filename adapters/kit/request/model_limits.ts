/**
 * What a model takes of what the caller wishes.
 *
 * @module
 */

import type { ModelSpec } from "../../../src/core/model.ts";
import type { StreamOptions } from "../../../src/core/stream.ts";
import type { CatalogEntry } from "../../catalog/catalog_entry.ts";
import type { WarningSink } from "./warnings.ts";

/** The temperature, unless the model takes none. */
export function resolveTemperature(
  { temperature }: StreamOptions,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): number | undefined {
  if (temperature === undefined || entry?.temperature !== false) return temperature;
  sink.warning("temperature_left_out", "The model takes no temperature");
  return undefined;
}

/** The caller's limit, not above the model's. */
export function resolveMaxTokens(
  { maxTokens }: StreamOptions,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): number | undefined {
  if (maxTokens === undefined || entry === undefined || maxTokens <= entry.maxOutput) {
    return maxTokens;
  }
  sink.warning("max_tokens_lowered", `The model writes at most ${entry.maxOutput} tokens`);
  return entry.maxOutput;
}

/** Tells that a model cannot be asked to think. */
export function warnUnsupportedThinking(
  { modelId, thinkingLevel }: ModelSpec,
  entry: Pick<CatalogEntry, "thinking"> | undefined,
  sink: WarningSink,
): void {
  if (thinkingLevel === "off" || entry?.thinking.type !== "none") return;
  sink.warning("thinking_left_out", `How hard ${modelId} thinks cannot be set`);
}
