/**
 * How hard a Claude thinks, wherever it is asked.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json.ts";
import type { StreamRequest } from "../../src/core/stream.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { budgetOf, effortOf } from "../kit/request/thinking.ts";
import type { WarningSink } from "../kit/request/warnings.ts";

/** How the model is to think. */
export interface Thinking {
  /** Whether it thinks at all. */
  readonly on: boolean;
  /** The `thinking` field; left out when there is nothing to say. */
  readonly setting?: JsonObject;
  /** The `effort` of `output_config`. */
  readonly effort?: string;
}

/** Fewest tokens that are left for the answer when a budget for thinking is set. */
const ANSWER_TOKENS = 1024;

/** Lets a model think between tool calls; it is the default where thinking is by effort. */
const INTERLEAVED_THINKING = "interleaved-thinking-2025-05-14";
/** Lets the API leave out thinking that has lost its beginning, instead of refusing the request. */
const BINDING_CONTROLS = "thinking-binding-controls-2026-08-01";

/** Says how a model is to think; what it cannot do is told in a warning. */
export function thinkingOf(
  request: StreamRequest,
  maxTokens: number,
  entry: CatalogEntry,
  sink: WarningSink,
): Thinking {
  const { model } = request;
  const wanted = model.thinkingLevel !== "off";
  // A forced call and thinking exclude each other, and the call is what the caller insists on.
  const canForce = isForced(request) && entry.forcedTools !== false;
  if (wanted && canForce && entry.thinking.type !== "none") {
    sink.warning("thinking_left_out", "The model cannot think when it has to call a tool");
  }
  const on = wanted && !canForce;
  const ability = entry.thinking;
  switch (ability.type) {
    case "none":
      if (wanted) sink.warning("thinking_left_out", `${model.modelId} does not think`);
      return { on: false };
    case "budget": {
      if (!on) return { on: false };
      const budget = Math.min(budgetOf(model, ability), maxTokens - ANSWER_TOKENS);
      if (budget >= ability.min) {
        return { on, setting: { type: "enabled", budget_tokens: budget } };
      }
      sink.warning("thinking_left_out", `maxTokens leaves no room to think: raise ${maxTokens}`);
      return { on: false };
    }
    case "effort": {
      const effort = effortOf(model.thinkingLevel, ability.efforts) ?? "low";
      if (on) return { on, setting: adaptive(entry), effort };
      return offThinking(entry, effort);
    }
  }
}

function adaptive(entry: CatalogEntry): JsonObject {
  return {
    type: "adaptive",
    display: "summarized",
    ...(entry.boundThinking && { block_binding: { prefix_mismatch_behavior: "drop_block" } }),
  };
}

function offThinking(entry: CatalogEntry, lowestEffort: string): Thinking {
  const off = entry.thinking.type === "effort" ? entry.thinking.off ?? "default" : "default";
  switch (off) {
    case "default":
      return { on: false };
    case "disabled":
    case "between_tools":
      return { on: false, setting: { type: off } };
    case "never":
      return { on: true, setting: adaptive(entry), effort: lowestEffort };
  }
}

/**
 * The thinking of a request that answers calls which did not begin with thinking.
 *
 * A model that thinks within a budget insists that the reply whose calls are being answered began with thinking. When
 * another model gave that reply, there is none to send back, and the model must not think before its next turn.
 */
export function betweenCalls(thinking: Thinking, entry: CatalogEntry, sink: WarningSink): Thinking {
  if (!thinking.on || entry.thinking.type !== "budget") return thinking;
  sink.warning(
    "thinking_left_out",
    "The model cannot begin to think between a call and its result",
  );
  return { on: false };
}

/** The features to be asked for by name. */
export function betasOf(
  thinking: Thinking,
  { context }: StreamRequest,
  entry: CatalogEntry,
): readonly string[] {
  if (!thinking.on) return [];
  if (entry.boundThinking) return [BINDING_CONTROLS];
  return entry.thinking.type === "budget" && context.tools.length > 0 ? [INTERLEAVED_THINKING] : [];
}

/** Tells whether the model has to call a tool. */
export function isForced({ options, context }: StreamRequest): boolean {
  const { toolChoice } = options;
  return context.tools.length > 0 && toolChoice !== undefined && toolChoice !== "auto" &&
    toolChoice !== "none";
}
