/**
 * A model call becomes a request to Bedrock's Converse API.
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
import { sortTools } from "../kit/request/tools.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import { getModelFamily, type ModelFamily } from "./families.ts";
import { toWireMessages } from "./messages.ts";
import { toThinkingFields } from "./thinking.ts";
import type { WireBlock } from "./wire.ts";

/** Writes the body; whatever the model cannot take is left out with a warning. */
export function createConverseBody(
  request: StreamRequest,
  entry: CatalogEntry,
  sink: WarningSink,
): JsonObject {
  const { model, context, options } = request;
  const family = getModelFamily(model.modelId);
  const cachePoint = toCachePoint(options, family, sink);
  const at = (place: ModelFamily["cachePoints"][number]) =>
    family.cachePoints.includes(place) ? cachePoint : undefined;
  const seen = entry.images ? context.messages : withoutImages(context.messages, sink);
  const prefill = family.prefill && entry.prefill !== false && model.thinkingLevel === "off";
  const cached = { model, family, prefill, cachePoint: at("messages") };
  const messages = toWireMessages(seen, cached, sink);
  const thinking = toThinkingFields(request, { family, entry, messages }, sink);
  const extra = options.extra ?? {};
  const body = {
    messages,
    system: toSystemPrompt(context.systemPrompt, at("system")),
    inferenceConfig: mergeExtra(
      toInferenceConfig(options, { entry, thinks: thinking.fixesTemperature }, sink),
      extra["inferenceConfig"],
      sink,
    ),
    toolConfig: toToolConfig(request, { entry, cachePoint: at("tools") }, sink),
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

/** Joins the fields of one object, of which the caller may want some of his own. */
function mergeExtra(own: JsonObject, extra: unknown, sink: WarningSink): JsonObject | undefined {
  const fields = mergeExtraFields(own, isJsonObject(extra) ? extra : {}, sink);
  return Object.keys(fields).length > 0 ? fields : undefined;
}

function toInferenceConfig(
  options: StreamOptions,
  { entry, thinks }: { readonly entry: CatalogEntry; readonly thinks: boolean },
  sink: WarningSink,
): JsonObject {
  const { maxTokens, temperature } = options;
  const most = maxTokens === undefined ? undefined : Math.min(maxTokens, entry.maxOutput);
  if (most !== maxTokens) {
    sink.warning("max_tokens_lowered", `The model writes at most ${most} tokens`);
  }
  const isWarm = temperature !== undefined && entry.temperature !== false && !thinks;
  if (temperature !== undefined && !isWarm) {
    const why = thinks ? "a model that thinks" : "this model";
    sink.warning("temperature_left_out", `Bedrock takes no temperature for ${why}`);
  }
  return { maxTokens: most, temperature: isWarm ? temperature : undefined };
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
  sink.warning(
    "cache_shortened",
    "Bedrock keeps the prompts of this model for its shorter time only",
  );
  return { cachePoint: { type: "default" } };
}

function toSystemPrompt(text: string, cachePoint: WireBlock | undefined): WireBlock[] | undefined {
  if (text.trim() === "") return undefined;
  return cachePoint ? [{ text }, cachePoint] : [{ text }];
}

/** A conversation with calls in it is refused without tools, even if none is to be called any more. */
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
  if (isNone) sink.warning("tool_choice_left_out", "Bedrock cannot be told to call no tool");
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
    description: "This tool is not there any more.",
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
    sink.warning("tool_choice_left_out", `${model.modelId} cannot be made to call a tool`);
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
    sink.warning("response_schema_left_out", "The model cannot be held to a JSON Schema");
    return undefined;
  }
  const jsonSchema = { name: "reply", schema: JSON.stringify(responseSchema) };
  return { textFormat: { type: "json_schema", structure: { jsonSchema } } };
}
