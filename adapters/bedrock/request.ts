/**
 * A model call becomes a request to Bedrock's Converse API.
 *
 * @module
 */

import { toolCallsOf } from "../../src/core/content.ts";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import type { LlmMessage } from "../../src/core/message.ts";
import type { StreamOptions, StreamRequest, ToolSpec } from "../../src/core/stream.ts";
import { isForced } from "../anthropic/thinking.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { withoutImages } from "../kit/request/history.ts";
import { withExtra } from "../kit/request/json_body.ts";
import { sortedTools } from "../kit/request/tools.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { TOOL_NAME_RULE, wireName } from "../kit/request/wire_names.ts";
import { type Family, familyOf } from "./families.ts";
import { wireMessages } from "./messages.ts";
import { thinkingFields } from "./thinking.ts";
import type { WireBlock } from "./wire.ts";

/** Writes the body; whatever the model cannot take is left out with a warning. */
export function converseBody(
  request: StreamRequest,
  entry: CatalogEntry,
  sink: WarningSink,
): JsonObject {
  const { model, context, options } = request;
  const family = familyOf(model.modelId);
  const cachePoint = cachePointOf(options, family, sink);
  const at = (place: Family["cache"][number]) =>
    family.cache.includes(place) ? cachePoint : undefined;
  const seen = entry.images ? context.messages : withoutImages(context.messages, sink);
  const prefill = family.prefill && entry.prefill !== false && model.thinkingLevel === "off";
  const cached = { model, family, prefill, cachePoint: at("messages") };
  const messages = wireMessages(seen, cached, sink);
  const thinking = thinkingFields(request, { family, entry, messages }, sink);
  const extra = options.extra ?? {};
  const body = {
    messages,
    system: systemOf(context.systemPrompt, at("system")),
    inferenceConfig: merged(
      inferenceConfig(options, { entry, thinks: thinking.on }, sink),
      extra["inferenceConfig"],
      sink,
    ),
    toolConfig: toolConfig(request, { entry, cachePoint: at("tools") }, sink),
    outputConfig: outputConfig(options, entry, sink),
    additionalModelRequestFields: merged(
      thinking.fields,
      extra["additionalModelRequestFields"],
      sink,
    ),
  };
  const { inferenceConfig: _config, additionalModelRequestFields: _fields, ...others } = extra;
  return withExtra(body, others, sink);
}

/** Joins the fields of one object, of which the caller may want some of his own. */
function merged(own: JsonObject, extra: unknown, sink: WarningSink): JsonObject | undefined {
  const fields = withExtra(own, isJsonObject(extra) ? extra : {}, sink);
  return Object.keys(fields).length > 0 ? fields : undefined;
}

function inferenceConfig(
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

function cachePointOf(
  { cache = "short" }: StreamOptions,
  family: Family,
  sink: WarningSink,
): WireBlock | undefined {
  if (cache === "off") return undefined;
  if (cache === "short" || family.cache.length === 0) return { cachePoint: { type: "default" } };
  if (family.longCache) return { cachePoint: { type: "default", ttl: "1h" } };
  sink.warning(
    "cache_shortened",
    "Bedrock keeps the prompts of this model for its shorter time only",
  );
  return { cachePoint: { type: "default" } };
}

function systemOf(text: string, cachePoint: WireBlock | undefined): WireBlock[] | undefined {
  if (text.trim() === "") return undefined;
  return cachePoint ? [{ text }, cachePoint] : [{ text }];
}

/** A conversation with calls in it is refused without tools, even if none is to be called any more. */
function toolConfig(
  request: StreamRequest,
  { entry, cachePoint }: {
    readonly entry: CatalogEntry;
    readonly cachePoint: WireBlock | undefined;
  },
  sink: WarningSink,
): JsonObject | undefined {
  const { context, options } = request;
  const called = calledTools(context.messages);
  const isNone = options.toolChoice === "none";
  if (isNone && called.length === 0) return undefined;
  const tools = context.tools.length > 0 ? context.tools : called;
  if (tools.length === 0) return undefined;
  if (isNone) sink.warning("tool_choice_left_out", "Bedrock cannot be told to call no tool");
  const specs = sortedTools(tools).map(toolSpec);
  return {
    tools: cachePoint ? [...specs, cachePoint] : specs,
    toolChoice: toolChoice(request, entry, sink),
  };
}

function toolSpec({ name, description, parameters }: ToolSpec): WireBlock {
  return {
    toolSpec: {
      name: wireName(name, TOOL_NAME_RULE),
      ...(description !== "" && { description }),
      inputSchema: { json: { type: "object", ...parameters } },
    },
  };
}

function calledTools(messages: readonly LlmMessage[]): ToolSpec[] {
  const names = messages.flatMap(({ content }) => toolCallsOf(content).map(({ name }) => name));
  return [...new Set(names)].map((name) => ({
    name,
    description: "This tool is not there any more.",
    parameters: {},
  }));
}

function toolChoice(
  request: StreamRequest,
  entry: CatalogEntry,
  sink: WarningSink,
): WireBlock | undefined {
  const { model, options } = request;
  if (!isForced(request)) return undefined;
  if (entry.forcedTools === false) {
    sink.warning("tool_choice_left_out", `${model.modelId} cannot be made to call a tool`);
    return undefined;
  }
  if (typeof options.toolChoice !== "object") return { any: {} };
  return { tool: { name: wireName(options.toolChoice.name, TOOL_NAME_RULE) } };
}

function outputConfig(
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
