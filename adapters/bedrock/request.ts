/**
 * Converts a model call to a request to Bedrock's Converse API.
 *
 * @module
 */

import { extractToolCalls } from "../../src/core/content.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import type { LlmMessage } from "../../src/core/message.ts";
import type { StreamOptions, StreamRequest, ToolSpec } from "../../src/core/stream.ts";
import { isToolForced } from "../anthropic/thinking.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { withoutImages } from "../kit/request/history.ts";
import { mergeExtraFields } from "../kit/request/json_body.ts";
import { resolveMaxTokens, resolveTemperature } from "../kit/request/model_limits.ts";
import { sortTools } from "../kit/request/tools.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import { getModelFamily, type ModelFamily } from "./families.ts";
import { toWireMessages } from "./messages.ts";
import { type ThinkingFields, toThinkingFields } from "./thinking.ts";
import type { WireBlock } from "./wire.ts";

/** Creates the body; options that the model does not support are omitted with a warning. */
export function createConverseBody(
  request: StreamRequest,
  entry: CatalogEntry,
  sink: WarningSink,
): JsonObject {
  const { model, context, options } = request;
  const family = getModelFamily(model.modelId);
  const cachePoint = toCachePoint(options, family, sink);
  const getCachePoint = (part: ModelFamily["cachePoints"][number]) =>
    family.cachePoints.includes(part) ? cachePoint : undefined;
  const history = entry.images ? context.messages : withoutImages(context.messages, sink);
  const prefill = family.prefill && entry.prefill !== false && model.thinkingLevel === "off";
  const messages = toWireMessages(
    history,
    { model, family, prefill, cachePoint: getCachePoint("messages") },
    sink,
  );
  const thinking = toThinkingFields(request, { family, entry, messages }, sink);
  const extra = options.extra ?? {};
  const body = {
    messages,
    system: toSystemPrompt(context.systemPrompt, getCachePoint("system")),
    inferenceConfig: mergeExtra(
      toInferenceConfig(options, { entry, thinking }, sink),
      extra["inferenceConfig"],
      sink,
    ),
    toolConfig: toToolConfig(request, { entry, cachePoint: getCachePoint("tools") }, sink),
    outputConfig: toOutputConfig(options, entry, sink),
    additionalModelRequestFields: mergeExtra(
      thinking.fields,
      extra["additionalModelRequestFields"],
      sink,
    ),
  };
  const { inferenceConfig: _config, additionalModelRequestFields: _fields, ...others } = extra;
  return mergeExtraFields(body, others, sink);
}

/** Merges the caller's fields into an object; gives `undefined` if it is empty. */
function mergeExtra(own: JsonObject, extra: unknown, sink: WarningSink): JsonObject | undefined {
  const fields = mergeExtraFields(own, isJsonObject(extra) ? extra : {}, sink);
  return Object.keys(fields).length > 0 ? fields : undefined;
}

function toInferenceConfig(
  options: StreamOptions,
  { entry, thinking }: { readonly entry: CatalogEntry; readonly thinking: ThinkingFields },
  sink: WarningSink,
): JsonObject {
  const maxTokens = resolveMaxTokens(options, entry, sink);
  if (options.temperature === undefined || !thinking.fixesTemperature) {
    return { maxTokens, temperature: resolveTemperature(options, entry, sink) };
  }
  const message = "The model does not support a temperature together with thinking";
  sink.warning("temperature_left_out", message);
  return { maxTokens };
}

function toCachePoint(
  { cache = "short" }: StreamOptions,
  family: ModelFamily,
  sink: WarningSink,
): WireBlock | undefined {
  if (cache === "off") return undefined;
  if (cache === "short" || family.cachePoints.length === 0) {
    return { cachePoint: { type: "default" } };
  }
  if (family.longCache) return { cachePoint: { type: "default", ttl: "1h" } };
  const message = "The model has no long cache retention: the short one applies";
  sink.warning("cache_shortened", message);
  return { cachePoint: { type: "default" } };
}

function toSystemPrompt(text: string, cachePoint: WireBlock | undefined): WireBlock[] | undefined {
  if (text.trim() === "") return undefined;
  return cachePoint ? [{ text }, cachePoint] : [{ text }];
}

/** Creates the tool configuration, which the API requires for every conversation that contains calls. */
function toToolConfig(
  request: StreamRequest,
  { entry, cachePoint }: {
    readonly entry: CatalogEntry;
    readonly cachePoint: WireBlock | undefined;
  },
  sink: WarningSink,
): JsonObject | undefined {
  const { context, options } = request;
  const called = findCalledTools(context.messages);
  const isNone = options.toolChoice === "none";
  if (isNone && called.length === 0) return undefined;
  const tools = context.tools.length > 0 ? context.tools : called;
  if (tools.length === 0) return undefined;
  if (isNone) {
    sink.warning("tool_choice_left_out", 'Bedrock does not support toolChoice "none"');
  }
  const specs = sortTools(tools).map(toWireTool);
  return {
    tools: cachePoint ? [...specs, cachePoint] : specs,
    toolChoice: toToolChoice(request, entry, sink),
  };
}

function toWireTool({ name, description, parameters }: ToolSpec): WireBlock {
  return {
    toolSpec: {
      name: toWireName(name, TOOL_NAME_RULE),
      ...(description !== "" && { description }),
      inputSchema: { json: { type: "object", ...parameters } },
    },
  };
}

function findCalledTools(messages: readonly LlmMessage[]): ToolSpec[] {
  const names = messages.flatMap(({ content }) =>
    extractToolCalls(content).map(({ name }) => name)
  );
  return [...new Set(names)].map((name) => ({
    name,
    description: "This tool is no longer available.",
    parameters: {},
  }));
}

function toToolChoice(
  request: StreamRequest,
  entry: CatalogEntry,
  sink: WarningSink,
): WireBlock | undefined {
  const { model, options } = request;
  if (!isToolForced(request)) return undefined;
  if (entry.forcedToolChoice === false) {
    const message = `${model.modelId} does not support a forced tool call`;
    sink.warning("tool_choice_left_out", message);
    return undefined;
  }
  if (typeof options.toolChoice !== "object") return { any: {} };
  return { tool: { name: toWireName(options.toolChoice.name, TOOL_NAME_RULE) } };
}

function toOutputConfig(
  { responseSchema }: StreamOptions,
  entry: CatalogEntry,
  sink: WarningSink,
): JsonObject | undefined {
  if (responseSchema === undefined) return undefined;
  if (!entry.strictSchema) {
    sink.warning("response_schema_left_out", "The model does not support a response schema");
    return undefined;
  }
  const jsonSchema = { name: "reply", schema: JSON.stringify(responseSchema) };
  return { textFormat: { type: "json_schema", structure: { jsonSchema } } };
}
