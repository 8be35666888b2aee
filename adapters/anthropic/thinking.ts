/**
 * Thinking settings of Claude models, shared by Anthropic's API and Bedrock.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json/json.ts";
import type { StreamRequest } from "../../src/core/streams/stream.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { warnUnsupportedOptions } from "../kit/request/model_limits.ts";
import { resolveBudget, resolveEffort } from "../kit/request/thinking.ts";
import type { WarningSink } from "../kit/request/warnings.ts";

/** Thinking settings of one request. */
export interface ResolvedThinking {
  /** Whether the model thinks. */
  readonly enabled: boolean;
  /** The `thinking` field. Default: omitted. */
  readonly setting?: JsonObject;
  /** The `effort` of `output_config`. Default: omitted. */
  readonly effort?: string;
}

/** Minimum number of tokens reserved for the answer when a thinking budget is set. */
const MIN_ANSWER_TOKENS = 1024;

/** Enables thinking between tool calls; models with effort levels do so by default. */
const INTERLEAVED_THINKING = "interleaved-thinking-2025-05-14";
/** Makes the API drop thinking whose prefix has changed, instead of refusing the request. */
const BINDING_CONTROLS = "thinking-binding-controls-2026-08-01";

/** Resolves the thinking level to the settings that the model supports; the rest is reported as a warning. */
export function resolveThinking(
  request: StreamRequest,
  maxTokens: number,
  entry: CatalogEntry,
  sink: WarningSink,
): ResolvedThinking {
  const { model } = request;
  const wanted = model.thinkingLevel !== "off";
  if (!wanted) warnUnsupportedOptions(request, ["reasoningSummary"], sink);
  // A forced call and thinking exclude each other; the forced call takes precedence.
  const canForce = isToolForced(request) && entry.forcedToolChoice !== false;
  if (wanted && canForce && entry.thinking.type !== "none") {
    warn("The model does not support thinking together with a forced tool call", sink);
  }
  const enabled = wanted && !canForce;
  const ability = entry.thinking;
  switch (ability.type) {
    case "none":
      if (wanted) warn(`${model.modelId} does not support thinking`, sink);
      return { enabled: false };
    case "budget": {
      if (!enabled) return { enabled };
      const budget = Math.min(resolveBudget(model, ability), maxTokens - MIN_ANSWER_TOKENS);
      if (budget >= ability.min) {
        const display = isSummaryOff(request) ? { display: "omitted" } : {};
        return { enabled, setting: { type: "enabled", budget_tokens: budget, ...display } };
      }
      warn(`maxTokens (${maxTokens}) leaves no thinking budget: raise it`, sink);
      return { enabled: false };
    }
    case "effort": {
      const effort = resolveEffort(model.thinkingLevel, ability.efforts) ?? "low";
      const adaptive = toAdaptiveThinking(entry, request);
      if (enabled) return { enabled, setting: adaptive, effort };
      return resolveThinkingOff(entry, { enabled: true, setting: adaptive, effort });
    }
  }
}

function warn(message: string, sink: WarningSink): void {
  sink.warning("thinking_left_out", message);
}

function isSummaryOff({ options }: StreamRequest): boolean {
  return options.reasoningSummary === "off";
}

function toAdaptiveThinking(entry: CatalogEntry, request: StreamRequest): JsonObject {
  return {
    type: "adaptive",
    display: isSummaryOff(request) ? "omitted" : "summarized",
    ...(entry.contextBoundThinking &&
      { block_binding: { prefix_mismatch_behavior: "drop_block" } }),
  };
}

function resolveThinkingOff(entry: CatalogEntry, lowest: ResolvedThinking): ResolvedThinking {
  const off = entry.thinking.type === "effort" ? entry.thinking.off ?? "default" : "default";
  switch (off) {
    case "default":
      return { enabled: false };
    case "disabled":
    case "between_tools":
      return { enabled: false, setting: { type: off } };
    case "never":
      return lowest;
  }
}

/**
 * Turns budget thinking off, with a warning, for a request that ends with the results of calls made without thinking.
 *
 * A model with a thinking budget refuses such a request unless the reply with the calls starts with thinking. A reply
 * of another model has no thinking that could be sent back.
 */
export function disableBudgetThinking(
  thinking: ResolvedThinking,
  entry: CatalogEntry,
  sink: WarningSink,
): ResolvedThinking {
  if (!thinking.enabled || entry.thinking.type !== "budget") return thinking;
  warn("The model cannot start to think between a tool call and its result", sink);
  return { enabled: false };
}

/** Returns the features to list in the `anthropic-beta` header. */
export function getBetas(
  thinking: ResolvedThinking,
  { context }: StreamRequest,
  entry: CatalogEntry,
): readonly string[] {
  if (!thinking.enabled) return [];
  if (entry.contextBoundThinking) return [BINDING_CONTROLS];
  return entry.thinking.type === "budget" && context.tools.length > 0 ? [INTERLEAVED_THINKING] : [];
}

/** Whether the tool choice forces the model to call a tool. */
export function isToolForced({ options, context }: StreamRequest): boolean {
  const { toolChoice } = options;
  return context.tools.length > 0 && toolChoice !== undefined && toolChoice !== "auto" &&
    toolChoice !== "none";
}
