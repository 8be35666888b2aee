/**
 * A model call becomes a request to Anthropic's Messages API.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json.ts";
import type { StreamOptions, StreamRequest, ToolSpec } from "../../src/core/stream.ts";
import type { CatalogEntry } from "../catalog_entry.ts";
import { withExtra } from "../shared/json_body.ts";
import { budgetOf, effortOf } from "../shared/thinking.ts";
import type { WarningSink } from "../shared/warnings.ts";
import { sortedTools } from "../shared/tools.ts";
import { TOOL_NAME_RULE, wireName } from "../shared/wire_names.ts";
import { isThinking, wireMessages } from "./messages.ts";
import type { CacheControl, WireMessage } from "./wire.ts";

/** What is sent. */
export interface AnthropicRequest {
  /** The body. */
  readonly body: JsonObject;
  /** Features to ask for in the `anthropic-beta` header. */
  readonly betas: readonly string[];
}

/** What a model takes of what was asked. */
interface Plan {
  readonly maxTokens: number;
  readonly thinking: Thinking;
  readonly toolChoice: JsonObject | undefined;
  readonly temperature: number | undefined;
}

/** How the model is to think. */
interface Thinking {
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

/** Writes the request; whatever the model cannot take is left out with a warning. */
export function anthropicRequest(
  request: StreamRequest,
  entry: CatalogEntry,
  sink: WarningSink,
): AnthropicRequest {
  const { model, context, options } = request;
  const plan = planOf(request, entry, sink);
  const cacheControl = cacheControlOf(options);
  const prefill = entry.prefill !== false && !plan.thinking.on;
  const messages = wireMessages(context.messages, { model, prefill, cacheControl });
  const thinking = keptThinking(plan.thinking, messages, entry, sink);
  const outputConfig = outputConfigOf(thinking, options, entry, sink);
  const body = {
    model: model.modelId,
    max_tokens: plan.maxTokens,
    stream: true,
    system: systemOf(context.systemPrompt, cacheControl),
    tools: toolsOf(context.tools, cacheControl),
    tool_choice: plan.toolChoice,
    temperature: plan.temperature,
    thinking: thinking.setting,
    output_config: outputConfig,
    messages,
  };
  return { body: withExtra(body, options.extra, sink), betas: betasOf(thinking, request, entry) };
}

function planOf(request: StreamRequest, entry: CatalogEntry, sink: WarningSink): Plan {
  const { options } = request;
  const maxTokens = Math.min(options.maxTokens ?? entry.maxOutput, entry.maxOutput);
  if (options.maxTokens !== undefined && maxTokens < options.maxTokens) {
    sink.warning("max_tokens_lowered", `The model writes at most ${maxTokens} tokens`);
  }
  const thinking = thinkingOf(request, maxTokens, entry, sink);
  return {
    maxTokens,
    thinking,
    toolChoice: toolChoiceOf(request, entry, sink),
    temperature: temperatureOf(options, thinking.on, entry, sink),
  };
}

function thinkingOf(
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
 * A model that thinks within a budget insists that the reply whose calls are being answered began with thinking. When
 * another model gave that reply, there is none to send back, and the model must not think before its next turn.
 */
function keptThinking(
  thinking: Thinking,
  messages: readonly WireMessage[],
  entry: CatalogEntry,
  sink: WarningSink,
): Thinking {
  if (!thinking.on || entry.thinking.type !== "budget") return thinking;
  const [reply, answer] = messages.slice(-2);
  const answersCalls = answer?.content.some(({ type }) => type === "tool_result") ?? false;
  if (!answersCalls || isThinking(reply?.content[0])) return thinking;
  sink.warning(
    "thinking_left_out",
    "The model cannot begin to think between a call and its result",
  );
  return { on: false };
}

function toolChoiceOf(
  request: StreamRequest,
  entry: CatalogEntry,
  sink: WarningSink,
): JsonObject | undefined {
  const { toolChoice } = request.options;
  if (toolChoice === undefined || request.context.tools.length === 0) return undefined;
  if (isForced(request) && entry.forcedTools === false) {
    sink.warning("tool_choice_left_out", `${request.model.modelId} cannot be made to call a tool`);
    return undefined;
  }
  if (toolChoice === "required") return { type: "any" };
  if (typeof toolChoice === "string") return { type: toolChoice };
  return { type: "tool", name: wireName(toolChoice.name, TOOL_NAME_RULE) };
}

function isForced({ options, context }: StreamRequest): boolean {
  const { toolChoice } = options;
  return context.tools.length > 0 && toolChoice !== undefined && toolChoice !== "auto" &&
    toolChoice !== "none";
}

function temperatureOf(
  { temperature }: StreamOptions,
  thinks: boolean,
  entry: CatalogEntry,
  sink: WarningSink,
): number | undefined {
  if (temperature === undefined) return undefined;
  if (entry.temperature !== false && !thinks) return temperature;
  const why = thinks ? "a model that thinks" : "this model";
  sink.warning("temperature_left_out", `Anthropic takes no temperature for ${why}`);
  return undefined;
}

function outputConfigOf(
  { effort }: Thinking,
  { responseSchema }: StreamOptions,
  entry: CatalogEntry,
  sink: WarningSink,
): JsonObject | undefined {
  if (responseSchema && !entry.strictSchema) {
    sink.warning("response_schema_left_out", "The model cannot be held to a JSON Schema");
  }
  const config = {
    ...(effort && { effort }),
    ...(responseSchema && entry.strictSchema && {
      format: { type: "json_schema", schema: responseSchema },
    }),
  };
  return Object.keys(config).length > 0 ? config : undefined;
}

function cacheControlOf({ cache = "short" }: StreamOptions): CacheControl | undefined {
  if (cache === "off") return undefined;
  return cache === "long" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

function systemOf(text: string, cache_control: CacheControl | undefined): unknown {
  if (text.trim() === "") return undefined;
  return cache_control ? [{ type: "text", text, cache_control }] : text;
}

/** Sorted, so that the same tools are the same prefix; the last one ends it. */
function toolsOf(
  tools: readonly ToolSpec[],
  cache_control: CacheControl | undefined,
): unknown[] | undefined {
  if (tools.length === 0) return undefined;
  return sortedTools(tools).map(({ name, description, parameters }, index) => ({
    name: wireName(name, TOOL_NAME_RULE),
    description,
    input_schema: { type: "object", ...parameters },
    ...(cache_control && index === tools.length - 1 && { cache_control }),
  }));
}

function betasOf(
  thinking: Thinking,
  { context }: StreamRequest,
  entry: CatalogEntry,
): readonly string[] {
  if (!thinking.on) return [];
  if (entry.boundThinking) return [BINDING_CONTROLS];
  return entry.thinking.type === "budget" && context.tools.length > 0 ? [INTERLEAVED_THINKING] : [];
}
