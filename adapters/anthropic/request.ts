/**
 * A model call becomes a request to Anthropic's Messages API.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json.ts";
import type { StreamOptions, StreamRequest, ToolSpec } from "../../src/core/stream.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { mergeExtraFields } from "../kit/request/json_body.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { sortTools } from "../kit/request/tools.ts";
import { TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import { isThinking, toWireMessages } from "./messages.ts";
import {
  disableBudgetThinking,
  getBetas,
  isToolForced,
  type ResolvedThinking,
  resolveThinking,
} from "./thinking.ts";
import type { CacheControl, WireMessage } from "./wire.ts";

/** What is sent. */
export interface AnthropicRequest {
  /** The body. */
  readonly body: JsonObject;
  /** Features to ask for in the `anthropic-beta` header. */
  readonly betas: readonly string[];
}

/** What a model takes of what was asked. */
interface ResolvedOptions {
  readonly maxTokens: number;
  readonly thinking: ResolvedThinking;
  readonly toolChoice: JsonObject | undefined;
  readonly temperature: number | undefined;
}

/** Writes the request; whatever the model cannot take is left out with a warning. */
export function createAnthropicRequest(
  request: StreamRequest,
  entry: CatalogEntry,
  sink: WarningSink,
): AnthropicRequest {
  const { model, context, options } = request;
  const plan = resolveOptions(request, entry, sink);
  const cacheControl = toCacheControl(options);
  const prefill = entry.prefill !== false && !plan.thinking.enabled;
  const messages = toWireMessages(context.messages, { model, prefill, cacheControl });
  const thinking = callsLackThinking(messages)
    ? disableBudgetThinking(plan.thinking, entry, sink)
    : plan.thinking;
  const outputConfig = toOutputConfig(thinking, options, entry, sink);
  const body = {
    model: model.modelId,
    max_tokens: plan.maxTokens,
    stream: true,
    system: toSystemPrompt(context.systemPrompt, cacheControl),
    tools: toWireTools(context.tools, cacheControl),
    tool_choice: plan.toolChoice,
    temperature: plan.temperature,
    thinking: thinking.setting,
    output_config: outputConfig,
    messages,
  };
  return {
    body: mergeExtraFields(body, options.extra, sink),
    betas: getBetas(thinking, request, entry),
  };
}

function resolveOptions(
  request: StreamRequest,
  entry: CatalogEntry,
  sink: WarningSink,
): ResolvedOptions {
  const { options } = request;
  const maxTokens = Math.min(options.maxTokens ?? entry.maxOutput, entry.maxOutput);
  if (options.maxTokens !== undefined && maxTokens < options.maxTokens) {
    sink.warning("max_tokens_lowered", `The model writes at most ${maxTokens} tokens`);
  }
  const thinking = resolveThinking(request, maxTokens, entry, sink);
  return {
    maxTokens,
    thinking,
    toolChoice: toToolChoice(request, entry, sink),
    temperature: resolveTemperature(options, thinking.enabled, entry, sink),
  };
}

function toToolChoice(
  request: StreamRequest,
  entry: CatalogEntry,
  sink: WarningSink,
): JsonObject | undefined {
  const { toolChoice } = request.options;
  if (toolChoice === undefined || request.context.tools.length === 0) return undefined;
  if (isToolForced(request) && entry.forcedToolChoice === false) {
    sink.warning("tool_choice_left_out", `${request.model.modelId} cannot be made to call a tool`);
    return undefined;
  }
  if (toolChoice === "required") return { type: "any" };
  if (typeof toolChoice === "string") return { type: toolChoice };
  return { type: "tool", name: toWireName(toolChoice.name, TOOL_NAME_RULE) };
}

function resolveTemperature(
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

function toOutputConfig(
  { effort }: ResolvedThinking,
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

function toCacheControl({ cache = "short" }: StreamOptions): CacheControl | undefined {
  if (cache === "off") return undefined;
  return cache === "long" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

function toSystemPrompt(text: string, cache_control: CacheControl | undefined): unknown {
  if (text.trim() === "") return undefined;
  return cache_control ? [{ type: "text", text, cache_control }] : text;
}

/** Sorted, so that the same tools are the same prefix; the last one ends it. */
function toWireTools(
  tools: readonly ToolSpec[],
  cache_control: CacheControl | undefined,
): unknown[] | undefined {
  if (tools.length === 0) return undefined;
  return sortTools(tools).map(({ name, description, parameters }, index) => ({
    name: toWireName(name, TOOL_NAME_RULE),
    description,
    input_schema: { type: "object", ...parameters },
    ...(cache_control && index === tools.length - 1 && { cache_control }),
  }));
}

/** Tells whether calls are being answered that did not begin with thinking. */
function callsLackThinking(messages: readonly WireMessage[]): boolean {
  const [reply, answer] = messages.slice(-2);
  const answersCalls = answer?.content.some(({ type }) => type === "tool_result") ?? false;
  return answersCalls && !isThinking(reply?.content[0]);
}
