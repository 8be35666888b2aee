/**
 * Converts a model call to a request to Anthropic's Messages API.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json.ts";
import type { StreamOptions, StreamRequest, ToolSpec } from "../../src/core/stream.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { mergeExtraFields } from "../kit/request/json_body.ts";
import { resolveMaxTokens, resolveTemperature } from "../kit/request/model_limits.ts";
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

/** A request to the Messages API. */
export interface AnthropicRequest {
  /** The JSON body. */
  readonly body: JsonObject;
  /** Features for the `anthropic-beta` header. */
  readonly betas: readonly string[];
}

/** The caller's options as far as the model supports them. */
interface ResolvedOptions {
  readonly maxTokens: number;
  readonly thinking: ResolvedThinking;
  readonly toolChoice: JsonObject | undefined;
  readonly temperature: number | undefined;
}

/** Creates the request; options that the model does not support are omitted with a warning. */
export function createAnthropicRequest(
  request: StreamRequest,
  entry: CatalogEntry,
  sink: WarningSink,
): AnthropicRequest {
  const { model, context, options } = request;
  const resolved = resolveOptions(request, entry, sink);
  const cacheControl = toCacheControl(options);
  const prefill = entry.prefill !== false && !resolved.thinking.enabled;
  const messages = toWireMessages(context.messages, { model, prefill, cacheControl });
  const thinking = callsLackThinking(messages)
    ? disableBudgetThinking(resolved.thinking, entry, sink)
    : resolved.thinking;
  const outputConfig = toOutputConfig(thinking, options, entry, sink);
  const body = {
    model: model.modelId,
    max_tokens: resolved.maxTokens,
    stream: true,
    system: toSystemPrompt(context.systemPrompt, cacheControl),
    tools: toWireTools(context.tools, cacheControl),
    tool_choice: resolved.toolChoice,
    temperature: resolved.temperature,
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
  const maxTokens = resolveMaxTokens(options, entry, sink) ?? entry.maxOutput;
  const thinking = resolveThinking(request, maxTokens, entry, sink);
  const toolChoice = toToolChoice(request, entry, sink);
  if (options.temperature === undefined || !thinking.enabled) {
    const temperature = resolveTemperature(options, entry, sink);
    return { maxTokens, thinking, toolChoice, temperature };
  }
  const message = "The model does not support a temperature together with thinking";
  sink.warning("temperature_left_out", message);
  return { maxTokens, thinking, toolChoice, temperature: undefined };
}

function toToolChoice(
  request: StreamRequest,
  entry: CatalogEntry,
  sink: WarningSink,
): JsonObject | undefined {
  const { toolChoice } = request.options;
  if (toolChoice === undefined || request.context.tools.length === 0) return undefined;
  if (isToolForced(request) && entry.forcedToolChoice === false) {
    const message = `${request.model.modelId} does not support a forced tool call`;
    sink.warning("tool_choice_left_out", message);
    return undefined;
  }
  if (toolChoice === "required") return { type: "any" };
  if (typeof toolChoice === "string") return { type: toolChoice };
  return { type: "tool", name: toWireName(toolChoice.name, TOOL_NAME_RULE) };
}

function toOutputConfig(
  { effort }: ResolvedThinking,
  { responseSchema }: StreamOptions,
  entry: CatalogEntry,
  sink: WarningSink,
): JsonObject | undefined {
  if (responseSchema && !entry.strictSchema) {
    sink.warning("response_schema_left_out", "The model does not support a response schema");
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

/** Sorts the tools, so that equal sets share a cached prefix, and marks its end on the last one. */
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

/** Whether the conversation ends with the results of calls whose reply did not start with thinking. */
function callsLackThinking(messages: readonly WireMessage[]): boolean {
  const [reply, answer] = messages.slice(-2);
  const answersCalls = answer?.content.some(({ type }) => type === "tool_result") ?? false;
  return answersCalls && !isThinking(reply?.content[0]);
}
