/**
 * Names of models.
 *
 * @module
 */

import type { ModelSpec } from "../../mod.ts";

/** Formats a model as `-m` takes it, such as `anthropic/claude-sonnet-5-5:high`. */
export function formatModel({ provider, modelId, thinkingLevel }: ModelSpec): string {
  const level = thinkingLevel === "off" ? "" : `:${thinkingLevel}`;
  return `${provider}/${modelId}${level}`;
}
