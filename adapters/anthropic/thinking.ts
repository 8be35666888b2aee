/**
 * How hard a Claude thinks, wherever it is asked.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json.ts";
import type { StreamRequest } from "../../src/core/stream.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { resolveBudget, resolveEffort } from "../kit/request/thinking.ts";
import type { WarningSink } from "../kit/request/warnings.ts";

/** How the model is to think. */
export interface ResolvedThinking {
  /** Whether it thinks at all. */
  readonly enabled: boolean;
  /** The `thinking` field; left out when there is nothing to say. */
  readonly setting?: JsonObject;
  /** The `effort` of `output_config`. */
  readonly effort?: string;
}

/** Fewest tokens that are left for the answer when a budget for thinking is set. */
const MIN_ANSWER_TOKENS = 1024;

/** Lets a model think between tool calls; it is the default where thinking is by effort. */
const INTERLEAVED_THINKING = "interleaved-thinking-2025-05-14";
/** Lets the API leave out thinking that has lost its beginning, instead of refusing the request. */
const BINDING_CONTROLS = "thinking-binding-controls-2026-08-01";

/** Says how a model is to think; what it cannot do is told in a warning. */
export function resolveThinking(
  request: StreamRequest,
  maxTokens: number,
  entry: CatalogEntry,
  sink: WarningSink,
): ResolvedThinking {
  const { model } = request;
  const wanted = model.thinkingLevel !== "off";
  // A forced call and thinking exclude each other, and the call is what the caller insists on.
  const canForce = isToolForced(request) && entry.forcedToolChoice !== false;
  if (wanted && canForce && entry.thinking.type !== "none") {
    sink.warning("thinking_left_out", "The model cannot think when it has to call a tool");
  }
  const on = wanted && !canForce;
  const ability = entry.thinking;
  switch (ability.type) {
    case "none":
      if (wanted) sink.warning("thinking_left_out", `${model.modelId} does not think`);
      return { enabled: false };
    case "budget": {
      if (!on) return { enabled: false };
      const budget = Math.min(resolveBudget(model, ability), maxTokens - MIN_ANSWER_TOKENS);
      if (budget >= ability.min) {
        return { enabled: on, setting: { type: "enabled", budget_tokens: budget } };
      }
      sink.warning("thinking_left_out", `maxTokens leaves no room to think: raise ${maxTokens}`);
      return { enabled: false };
    }
    case "effort": {
      const effort = resolveEffort(model.thinkingLevel, ability.efforts) ?? "low";
      if (on) return { enabled: on, setting: toAdaptiveThinking(entry), effort };
      return resolveThinkingOff(entry, effort);
    }
  }
}

function toAdaptiveThinking(entry: CatalogEntry): JsonObject {
  return {
    type: "adaptive",
    display: "summarized",
    ...(entry.contextBoundThinking &&
      { block_binding: { prefix_mismatch_behavior: "drop_block" } }),
  };
}

function resolveThinkingOff(entry: CatalogEntry, lowestEffort: string): ResolvedThinking {
  const off = entry.thinking.type === "effort" ? entry.thinking.off ?? "default" : "default";
  switch (off) {
    case "default":
      return { enabled: false };
    case "disabled":
    case "between_tools":
      return { enabled: false, setting: { type: off } };
    case "never":
      return { enabled: true, setting: toAdaptiveThinking(entry), effort: lowestEffort };
  }
}

/**
 * The thinking of a request that answers calls which did not begin with thinking.
 *
 * A model that thinks within a budget insists that the reply whose calls are being answered began with thinking. When
 * another model gave that reply, there is none to send back, and the model must not think before its next turn.
 */
export function disableBudgetThinking(
  thinking: ResolvedThinking,
  entry: CatalogEntry,
  sink: WarningSink,
): ResolvedThinking {
  if (!thinking.enabled || entry.thinking.type !== "budget") return thinking;
  sink.warning(
    "thinking_left_out",
    "The model cannot begin to think between a call and its result",
  );
  return { enabled: false };
}

/** The features to be asked for by name. */
export function getBetas(
  thinking: ResolvedThinking,
  { context }: StreamRequest,
  entry: CatalogEntry,
): readonly string[] {
  if (!thinking.enabled) return [];
  if (entry.contextBoundThinking) return [BINDING_CONTROLS];
  return entry.thinking.type === "budget" && context.tools.length > 0 ? [INTERLEAVED_THINKING] : [];
}

/** Tells whether the model has to call a tool. */
export function isToolForced({ options, context }: StreamRequest): boolean {
  const { toolChoice } = options;
  return context.tools.length > 0 && toolChoice !== undefined && toolChoice !== "auto" &&
    toolChoice !== "none";
}
